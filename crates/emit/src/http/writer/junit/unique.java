
  /** A unique string. */
  private static String unique(String prefix, int digits, String suffix) {
    return prefix + UUID.randomUUID().toString().replace("-", "").substring(0, digits) + suffix;
  }
