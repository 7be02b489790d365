
// Starts the service unless its URL is set, and waits until it is ready.
if (!@GIVEN@) {
  const child = spawn(@START@, { shell: true, detached: true, stdio: "ignore" });
  const stop = () => child.exitCode === null && process.kill(-child.pid);
  after(stop);
  for (let tries = 0; ; tries++) {
    assert.equal(child.exitCode, null, "the service exited during startup");
    try {
      await fetch(BASE_URL, { redirect: "manual" });
      break;
    } catch (error) {
      if (tries > 600) {
        stop();
        throw error;
      }
      await sleep(100);
    }
  }
}
