
  /** The last path segment of a reference such as a Location header. */
  private static String lastSegment(Object reference) {
    String path = URI.create(reference.toString()).getRawPath().replaceAll("/+$", "");
    String segment = path.substring(path.lastIndexOf('/') + 1);
    return URLDecoder.decode(segment.replace("+", "%2B"), UTF_8);
  }
