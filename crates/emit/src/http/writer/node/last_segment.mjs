
// The last path segment of a reference such as a Location header.
@@js
function lastSegment(reference) {
@@ts
function lastSegment(reference: string): string {
@@end
  const path = new URL(reference, BASE_URL).pathname.replace(/\/+$/, "");
@@js
  return decodeURIComponent(path.split("/").pop());
@@ts
  return decodeURIComponent(path.split("/").pop() ?? "");
@@end
}
