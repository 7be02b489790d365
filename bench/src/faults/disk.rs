//! Output that cannot be written: a disk that fills up, files and a folder whose permissions are taken away.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use super::ground::{Ground, MARINA, Started, moment, wait};
use super::{Plan, Trial};
use crate::verdict::BenchError;

/// The user and the group that are nobody: permissions do not bind root.
const NOBODY: u32 = 65_534;

/// A disk that is mounted at a folder; gone when dropped.
struct Disk<'a> {
    folder: &'a Path,
}

impl<'a> Disk<'a> {
    /// `None` where this user may not mount anything.
    fn mount(folder: &'a Path, kilobytes: u32) -> Result<Option<Self>, BenchError> {
        let options = format!("size={kilobytes}k,mode=755");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &options, "isobath-bench"]);
        let mounted = mount.arg(folder).stderr(Stdio::null()).status()?;
        Ok(mounted.success().then_some(Self { folder }))
    }

    /// Makes room.
    fn enlarge(&self) -> Result<(), BenchError> {
        let mut mount = Command::new("mount");
        mount.args(["-o", "remount,size=64m"]).arg(self.folder);
        match mount.status()?.success() {
            true => Ok(()),
            false => Err("the disk cannot be made larger".into()),
        }
    }
}

impl Drop for Disk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.folder).status();
    }
}

/// The output is on a disk that is full sooner or later.
pub(super) fn full(plan: &Plan<'_>, seed: u64) -> Result<Trial, BenchError> {
    let ground = Ground::new()?;
    let out = ground.out();
    fs::create_dir(&out)?;
    let kilobytes = fastrand::Rng::with_seed(seed).u32(8..400);
    let Some(disk) = Disk::mount(&out, kilobytes)? else {
        let why = "nothing may be mounted here (it takes root)";
        return Ok(Trial::LeftOut(why.to_owned()));
    };
    let mut run = Started::on_marina(plan, 600, seed, ground, |_| {})?;
    let code = wait(&mut run.core)?;
    let problems = judge(&run.ground, code, "No space left");
    disk.enlarge()?;
    let problems = with_resumed(plan, &run.ground, code, problems)?;
    let outcome = run.ground.outcome(1, problems, run.left());
    drop(disk);
    Ok(Trial::Done(outcome))
}

/// The output folder and the files in it lose their permissions at some moment.
pub(super) fn unwritable(plan: &Plan<'_>, seed: u64) -> Result<Trial, BenchError> {
    let ground = Ground::new()?;
    let is_root = fs::metadata("/proc/self")?.uid() == 0;
    if is_root {
        for folder in [ground.path().to_owned(), ground.path().join("tmp")] {
            chown(&folder, Some(NOBODY), Some(NOBODY))?;
        }
    }
    let mut run = Started::on_marina(plan, 600, seed, ground, |command| {
        if is_root {
            command.uid(NOBODY).gid(NOBODY);
        }
    })?;
    let goes_on = run.until(moment(seed, MARINA))?;
    let out = run.ground.out();
    set_permissions(&out, 0o400, 0o500)?;
    let code = wait(&mut run.core)?;
    let problems = judge(&run.ground, code, "Permission denied");
    set_permissions(&out, 0o600, 0o700)?;
    let problems = with_resumed(plan, &run.ground, code, problems)?;
    let outcome = run.ground.outcome(goes_on.into(), problems, run.left());
    Ok(Trial::Done(outcome))
}

/// Sets the permissions of all files and folders.
fn set_permissions(folder: &Path, of_files: u32, of_folders: u32) -> Result<(), BenchError> {
    // A folder that cannot be searched hides what is in it.
    fs::set_permissions(folder, Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(folder)?.flatten() {
        if entry.file_type()?.is_dir() {
            set_permissions(&entry.path(), of_files, of_folders)?;
        } else {
            fs::set_permissions(entry.path(), Permissions::from_mode(of_files))?;
        }
    }
    Ok(fs::set_permissions(
        folder,
        Permissions::from_mode(of_folders),
    )?)
}

/// What cannot be written is told with the reason; a run that calls itself done has a report.
fn judge(ground: &Ground, code: Option<i32>, reason: &str) -> Vec<String> {
    match code {
        Some(0 | 1) => ground.judge(code, &[0, 1]),
        _ => {
            let mut problems = ground.judge_end(code, &[2]);
            if problems.is_empty() && !ground.said().contains(reason) {
                problems.push(format!("`{reason}` is not told"));
            }
            problems
        }
    }
}

/// Resumes a run that could not be completed, now that there is room.
fn with_resumed(
    plan: &Plan<'_>,
    ground: &Ground,
    code: Option<i32>,
    mut problems: Vec<String>,
) -> Result<Vec<String>, BenchError> {
    let is_done = matches!(code, Some(0 | 1));
    if problems.is_empty() && !is_done && ground.is_begun() {
        problems.extend(ground.resume(plan.binary, &[])?);
    }
    Ok(problems)
}
