@@users_js

let proofs;
@@users_ts

let proofs: Record<string, Proof>;
@@end

beforeEach(async () => {
@@users
  proofs = {};
@@external
  stubs = [];
@@end
  @RESET@
});
