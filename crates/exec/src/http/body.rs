//! Reads and decodes response bodies within limits.

use std::io::{self, Read};

use ::http::HeaderMap;
use ::http::header::CONTENT_ENCODING;
use bytes::{Buf, Bytes};
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

use super::call::BodyCompleteness;

/// Encodings on top of each other beyond this are not a body but an attack.
const MAX_LAYERS: usize = 3;

/// Undoes the `Content-Encoding` of a body that is all here, up to `limit` bytes.
pub(super) fn decode(headers: &HeaderMap, body: Bytes, limit: usize) -> (Bytes, BodyCompleteness) {
    let named = headers.get_all(CONTENT_ENCODING).iter();
    let named = named.filter_map(|value| value.to_str().ok());
    let layers: Vec<String> = named
        .flat_map(|value| value.split(','))
        .map(|name| name.trim().to_ascii_lowercase())
        .filter(|name| !name.is_empty() && name != "identity")
        .collect();
    if layers.is_empty() || body.is_empty() {
        return (body, BodyCompleteness::Complete);
    }
    if layers.len() > MAX_LAYERS {
        return (body, BodyCompleteness::Undecodable);
    }
    let mut decoded = body.clone();
    // The last one named was applied last.
    for layer in layers.iter().rev() {
        match undo(layer, &decoded, limit) {
            Ok((bytes, BodyCompleteness::Complete)) => decoded = bytes.into(),
            Ok((bytes, cut)) => return (bytes.into(), cut),
            Err(_) => return (body, BodyCompleteness::Undecodable),
        }
    }
    (decoded, BodyCompleteness::Complete)
}

fn undo(layer: &str, bytes: &[u8], limit: usize) -> io::Result<(Vec<u8>, BodyCompleteness)> {
    match layer {
        "gzip" | "x-gzip" => read_bounded(MultiGzDecoder::new(bytes), limit),
        // Servers disagree on whether deflate has the zlib frame that the standard asks for.
        "deflate" => read_bounded(ZlibDecoder::new(bytes), limit)
            .or_else(|_| read_bounded(DeflateDecoder::new(bytes), limit)),
        "br" => read_bounded(brotli_decompressor::Decompressor::new(bytes, 4096), limit),
        "zstd" => {
            let decoder = ruzstd::decoding::StreamingDecoder::new(bytes.reader())
                .map_err(io::Error::other)?;
            read_bounded(decoder, limit)
        }
        _ => Err(io::Error::other("an encoding that we do not know")),
    }
}

fn read_bounded(decoder: impl Read, limit: usize) -> io::Result<(Vec<u8>, BodyCompleteness)> {
    let mut bytes = Vec::new();
    // One more than allowed shows that there is more.
    decoder.take(limit as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > limit {
        bytes.truncate(limit);
        return Ok((bytes, BodyCompleteness::TooLarge));
    }
    Ok((bytes, BodyCompleteness::Complete))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use ::http::HeaderValue;
    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

    use super::*;

    const TEXT: &[u8] = b"to be or not to be, to be or not to be";

    fn headers(encoding: &'static str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static(encoding));
        headers
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn check(encoding: &'static str, body: Vec<u8>) {
        let (decoded, completeness) = decode(&headers(encoding), body.into(), 1_000);
        assert_eq!(completeness, BodyCompleteness::Complete, "{encoding}");
        assert_eq!(decoded, TEXT, "{encoding}");
    }

    #[test]
    fn every_usual_encoding_is_undone() {
        check("identity", TEXT.to_vec());
        check("gzip", gzip(TEXT));
        check("gzip, gzip", gzip(&gzip(TEXT)));
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
        zlib.write_all(TEXT).unwrap();
        check("deflate", zlib.finish().unwrap());
        let mut raw = DeflateEncoder::new(Vec::new(), Compression::fast());
        raw.write_all(TEXT).unwrap();
        check("deflate", raw.finish().unwrap());
        let level = ruzstd::encoding::CompressionLevel::Fastest;
        check("zstd", ruzstd::encoding::compress_to_vec(TEXT, level));
        // A brotli stream of one uncompressed block: window bits, length, the bytes, and an empty last block.
        let brotli: &[u8] = &[0x0b, 0x02, 0x80, 0x68, 0x65, 0x6c, 0x6c, 0x6f, 0x03];
        let (decoded, _) = decode(&headers("br"), brotli.to_vec().into(), 1_000);
        assert_eq!(decoded, b"hello".as_slice());
    }

    #[test]
    fn a_bomb_is_cut_at_the_limit() {
        let bomb = gzip(&vec![0; 50_000_000]);
        assert!(bomb.len() < 300_000);
        let (decoded, completeness) = decode(&headers("gzip"), bomb.into(), 1_000);
        assert_eq!(
            (decoded.len(), completeness),
            (1_000, BodyCompleteness::TooLarge)
        );
    }

    #[test]
    fn what_is_not_what_it_says_is_left_as_it_is() {
        for encoding in [
            "gzip",
            "deflate",
            "br",
            "zstd",
            "rot13",
            "gzip,gzip,gzip,gzip",
        ] {
            let (body, completeness) = decode(&headers(encoding), TEXT.into(), 1_000);
            assert_eq!(completeness, BodyCompleteness::Undecodable, "{encoding}");
            assert_eq!(body, TEXT);
        }
    }
}
