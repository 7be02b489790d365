
// A unique string.
@@js
function unique(prefix, digits, suffix) {
@@ts
function unique(prefix: string, digits: number, suffix: string): string {
@@end
  return prefix + crypto.randomUUID().replaceAll("-", "").slice(0, digits) + suffix;
}
