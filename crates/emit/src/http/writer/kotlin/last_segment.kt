
/** The last path segment of a reference such as a Location header. */
private fun lastSegment(reference: Any?): String {
    val segment = URI.create(reference.toString()).rawPath.trimEnd('/').substringAfterLast('/')
    return URLDecoder.decode(segment.replace("+", "%2B"), Charsets.UTF_8)
}
