
// The id that a reference such as a Location ends with.
function lastSegment(reference) {
  const path = new URL(reference, BASE_URL).pathname.replace(/\/+$/, "");
  return decodeURIComponent(path.split("/").pop());
}
