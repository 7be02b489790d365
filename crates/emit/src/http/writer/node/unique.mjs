
// A text that no other run has used.
function unique(prefix, digits, suffix) {
  return prefix + crypto.randomUUID().replaceAll("-", "").slice(0, digits) + suffix;
}
