
// The value of a cookie that an answer sets.
@@js
function cookie(answer, name) {
@@ts
function cookie(answer: Answer, name: string): string {
@@end
  assert.ok(name in answer.cookies, `no cookie ${name}`);
  return answer.cookies[name];
}
