
// The last path segment of a reference such as a Location header.
function lastSegment(reference) {
  const path = new URL(reference, BASE_URL).pathname.replace(/\/+$/, "");
  return decodeURIComponent(path.split("/").pop());
}
