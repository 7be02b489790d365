
// Starts the service unless its URL is set, and waits until it is ready.
if (!@GIVEN@) {
@@free_ports
  let command = @START@;
@@free_url
  command = command.replaceAll(@PORT_PLACEHOLDER@, PORT);
@@free_agent
  command = command.replaceAll(@AGENT_PORT_PLACEHOLDER@, AGENT_PORT);
@@fixed_ports
  const command = @START@;
@@end
  const child = spawn(command, { shell: true, detached: true, stdio: "ignore" });
@@js
  const stop = () => child.exitCode === null && process.kill(-child.pid);
  after(stop);
@@ts
  const stop = () => {
    if (child.exitCode === null) process.kill(-child.pid!);
  };
  afterAll(stop);
@@end
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
