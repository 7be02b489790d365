
  @BeforeEach
  void reset() throws Exception {
    proofs.clear();
@@external
    synchronized (STUBS) {
      STUBS.clear();
    }
@@end
    @RESET@
  }
