
// A unique string.
function unique(prefix, digits, suffix) {
  return prefix + crypto.randomUUID().replaceAll("-", "").slice(0, digits) + suffix;
}
