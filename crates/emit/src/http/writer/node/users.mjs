@@ts

type Proof = Pick<Options, "headers" | "query" | "cookies">;
@@end

// What proves each user's calls.
@@js
function proofOf(user) {
  return {
@@ts
function proofOf(user: string): Promise<Proof> {
  const users: Record<string, () => Promise<Proof>> = {
@@end
@USERS@
@@js
  }[user]();
@@ts
  };
  return users[user]();
@@end
}
