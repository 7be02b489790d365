//! Folders as one object: a compressed tar archive.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

/// Folders that are never sent: they are large and can be made again.
const LEFT_OUT: [&str; 4] = [".git", ".campaign", "node_modules", "target"];

/// Files and folders below `root` as one archive; those that do not exist are left out.
pub(super) fn pack(root: &Path, paths: &[PathBuf]) -> io::Result<Vec<u8>> {
    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    archive.mode(tar::HeaderMode::Deterministic);
    for path in paths {
        add(&mut archive, root, path)?;
    }
    archive.into_inner()?.finish()
}

/// Everything in a folder.
pub(super) fn pack_all(folder: &Path) -> io::Result<Vec<u8>> {
    pack(folder, &entries(folder, Path::new(""))?)
}

fn entries(root: &Path, folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(root.join(folder))? {
        names.push(folder.join(entry?.file_name()));
    }
    names.sort();
    Ok(names)
}

fn add(archive: &mut tar::Builder<GzEncoder<Vec<u8>>>, root: &Path, path: &Path) -> io::Result<()> {
    let real = root.join(path);
    // Links are followed for what the user named, and left out below: a circle of them would not end.
    let Ok(metadata) = std::fs::metadata(&real) else {
        return Ok(());
    };
    if metadata.is_dir() {
        for inner in entries(root, path)? {
            let name = inner.file_name().and_then(|name| name.to_str());
            let is_link = root.join(&inner).is_symlink();
            if !is_link && !name.is_some_and(|name| LEFT_OUT.contains(&name)) {
                add(archive, root, &inner)?;
            }
        }
        return Ok(());
    }
    if !metadata.is_file() {
        return Ok(());
    }
    match File::open(&real) {
        // A file may grow while it is read; its length is what it was.
        Ok(file) => {
            let mut header = tar::Header::new_gnu();
            header.set_metadata_in_mode(&metadata, tar::HeaderMode::Deterministic);
            let length = metadata.len();
            let content = io::Read::take(file, length);
            let content = io::Read::chain(content, io::repeat(b'\n'));
            archive.append_data(&mut header, path, io::Read::take(content, length))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Writes the files of an archive below a folder; none lands outside of it.
pub(super) fn unpack(bytes: &[u8], folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let mut archive = tar::Archive::new(GzDecoder::new(bytes));
    archive.set_preserve_mtime(false);
    archive.unpack(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_come_back_as_they_were() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for name in ["a/b/c.txt", "a/target/large", "d.sql", "other"] {
            let path = from.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, name).unwrap();
        }
        let wanted = ["a", "d.sql", "gone"].map(PathBuf::from);
        let packed = pack(from.path(), &wanted).unwrap();
        unpack(&packed, to.path()).unwrap();
        let text = |name: &str| std::fs::read_to_string(to.path().join(name)).ok();
        assert_eq!(text("a/b/c.txt").as_deref(), Some("a/b/c.txt"));
        assert_eq!(text("d.sql").as_deref(), Some("d.sql"));
        assert_eq!(text("other"), None);
        assert_eq!(text("a/target/large"), None, "it can be made again");
        assert_eq!(pack(from.path(), &wanted).unwrap(), packed);
    }
}
