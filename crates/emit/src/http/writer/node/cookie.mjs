
// The value of a cookie that an answer sets.
function cookie(answer, name) {
  assert.ok(name in answer.cookies, `no cookie ${name}`);
  return answer.cookies[name];
}
