//! Publishing with every step refused, and with every step the last one before a kill.

use std::rc::Rc;

use super::super::steps::plan::Plan;
use super::*;

/// What is in a place, before or after publishing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Nothing,
    File,
    Folder,
}

fn write(path: &Path, form: Form, text: &str) {
    match form {
        Form::Nothing => {}
        Form::File => fs::write(path, text).unwrap(),
        Form::Folder => {
            fs::create_dir(path).unwrap();
            fs::write(path.join("text"), text).unwrap();
        }
    }
}

/// The text at the path.
fn read(path: &Path) -> Option<String> {
    let path = if path.is_dir() {
        path.join("text")
    } else {
        path.to_owned()
    };
    fs::read_to_string(path).ok()
}

fn names(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

/// Publishes with these steps refused, and returns whether that succeeded.
fn publish(place: &Path, new: Form, plan: &Rc<Plan>, refused: std::ops::Range<usize>) -> bool {
    let steps = PublishSteps { plan: plan.clone() };
    let work = WorkFolder::with(place, steps).unwrap();
    let standing = ExistingOutput::at(place, true).unwrap();
    write(&work.output(), new, "new");
    plan.refuse(refused);
    let published = work.publish(&standing, false);
    if let Err(error) = &published {
        assert!(format!("{error:#}").contains("out"), "{error:#}");
    }
    published.is_ok()
}

/// The name that what stood in the place has, unless a file replaced a file.
fn aside(place: &Path) -> PathBuf {
    place.with_file_name("out.old")
}

fn for_each_story(mut story: impl FnMut(Form, Form)) {
    for old in [Form::Nothing, Form::File, Form::Folder] {
        for new in [Form::File, Form::Folder] {
            story(old, new);
        }
    }
}

/// The work folder beside a place that nobody writes to.
///
/// A program that another test starts has our files open for a moment, until it runs, and with them a lock that was just
/// released.
fn beside(place: &Path) -> WorkFolder {
    for _ in 0..1000 {
        match WorkFolder::beside(place, &[]) {
            Err(Error::Busy { .. }) => std::thread::sleep(std::time::Duration::from_millis(1)),
            made => return made.unwrap(),
        }
    }
    panic!("{}: it stays locked", place.display());
}

/// Runs each story with the steps that `refused` returns for each step, until there are no more steps.
fn at_each_step(refused: impl Fn(usize) -> std::ops::Range<usize>, can_be_empty: bool) {
    for_each_story(|old, new| {
        for step in 0.. {
            let folder = tempfile::tempdir().unwrap();
            let place = folder.path().join("out");
            write(&place, old, "old");
            let plan = Rc::new(Plan::default());
            let published = publish(&place, new, &plan, refused(step));
            let is_last = plan.taken() <= step;
            // The next run deletes the remains.
            drop(beside(&place));
            let (found, moved) = (read(&place), read(&aside(&place)));
            let is_new = found.as_deref() == Some("new");
            let is_old = found.as_deref() == (old != Form::Nothing).then_some("old");
            let is_aside = found.is_none() && moved.as_deref() == Some("old");
            assert!(
                is_new || !published && (is_old || can_be_empty && is_aside),
                "{old:?} {new:?} {step}: {found:?} {moved:?}"
            );
            // What is not replaced by a file is never lost.
            if old == Form::Folder || old == Form::File && new == Form::Folder {
                assert_eq!(if is_old { found } else { moved }.as_deref(), Some("old"));
            }
            let there = [&place, &aside(&place)].map(|path| usize::from(path.exists()));
            assert_eq!(names(folder.path()), there[0] + there[1]);
            assert!(publish(&place, new, &Rc::default(), 0..0));
            assert_eq!(read(&place).as_deref(), Some("new"));
            if is_last {
                assert!(step > 2);
                break;
            }
        }
    });
}

#[test]
fn a_step_that_is_refused_leaves_old_or_new_in_its_place() {
    at_each_step(|step| step..step + 1, false);
}

#[test]
fn a_process_that_ends_at_any_step_leaves_old_and_new_to_the_next_one() {
    at_each_step(|step| step..usize::MAX, true);
}

#[test]
fn what_is_no_file_replaced_by_a_file_gets_another_name() {
    for_each_story(|old, new| {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("out");
        write(&place, old, "old");
        let work = WorkFolder::with(&place, PublishSteps::default()).unwrap();
        let existing = ExistingOutput::at(&place, true).unwrap();
        write(&work.output(), new, "new");
        fs::write(work.path("store"), "in use").unwrap();
        let moved = work.publish(&existing, false).unwrap();
        let is_replaced = old == Form::Nothing || (old, new) == (Form::File, Form::File);
        assert_eq!(moved, (!is_replaced).then(|| aside(&place)));
        let old_text = moved.map(|_| "old".to_owned());
        assert_eq!(read(&aside(&place)), old_text, "{old:?} {new:?}");
        // The marker and what is still in use remain.
        assert_eq!(names(work.folder()), 2, "{old:?} {new:?}");
    });
}

#[test]
fn what_is_not_known_to_be_dedupdbs_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (place, hidden) = (folder.path().join("out"), folder.path().join(".out.dedup"));
    let refused = |named: &str| {
        let error = WorkFolder::beside(&place, &[]).unwrap_err();
        let error = format!("{error:#}");
        assert!(
            error.contains(".out.dedup") && error.contains(named),
            "{error}"
        );
        fs::read_dir(&hidden).map_or(0, Iterator::count)
    };
    fs::create_dir(&hidden).unwrap();
    fs::write(hidden.join("output"), "mine").unwrap();
    assert_eq!(refused("not one that it made"), 1);
    fs::remove_dir_all(&hidden).unwrap();
    // The folder of a killed run, to which someone added a file.
    drop(enter(&hidden, &place).unwrap());
    fs::write(hidden.join("output"), "new").unwrap();
    fs::write(hidden.join("mine"), "mine").unwrap();
    assert_eq!(refused("mine: dedupdb did not"), 3);
    fs::remove_file(hidden.join("mine")).unwrap();
    drop(beside(&place));
    assert!(!hidden.exists());
}

#[cfg(unix)]
#[test]
fn a_folder_of_others_or_behind_a_link_is_not_used() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let (place, hidden) = (folder.path().join("out"), folder.path().join(".out.dedup"));
    let elsewhere = folder.path().join("elsewhere");
    drop(enter(&elsewhere, &place).unwrap());
    fs::write(elsewhere.join("store"), "mine").unwrap();
    symlink(&elsewhere, &hidden).unwrap();
    assert!(WorkFolder::beside(&place, &[]).is_err());
    fs::remove_file(&hidden).unwrap();
    fs::rename(&elsewhere, &hidden).unwrap();
    fs::set_permissions(&hidden, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(WorkFolder::beside(&place, &[]).is_err());
    assert_eq!(fs::read_to_string(hidden.join("store")).unwrap(), "mine");
    // A link does not count as a marker.
    fs::set_permissions(&hidden, fs::Permissions::from_mode(0o700)).unwrap();
    fs::rename(hidden.join(MARKER), folder.path().join("marker")).unwrap();
    symlink(folder.path().join("marker"), hidden.join(MARKER)).unwrap();
    assert!(WorkFolder::beside(&place, &[]).is_err());
    assert_eq!(fs::read_to_string(hidden.join("store")).unwrap(), "mine");
}

#[test]
fn a_folder_is_one_process_alone() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("out");
    let work = beside(&place);
    let error = WorkFolder::beside(&place, &[]).unwrap_err().to_string();
    assert!(error.contains("another process"), "{error}");
    work.set_note("a note").unwrap();
    assert_eq!(work.note(), None);
    drop(work);
    assert_eq!(names(folder.path()), 0);
}
