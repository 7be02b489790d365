
/** A unique string. */
private fun unique(prefix: String, digits: Int, suffix: String): String =
    prefix + UUID.randomUUID().toString().replace("-", "").take(digits) + suffix
