//! Mail: messages, mailboxes and folders of mail.

use std::fs;
use std::path::Path;

use dedupdb_corpus::dedup::{Dedup, Keep};
use dedupdb_corpus::{Options, Reason};

const FROM: &str = "From ada@example.org Tue Mar  5 09:30:00 2024\n";

const PLAIN: &str = "\
Message-ID: <one@example.org>
From: Ada <ada@example.org>
Subject: The tram
Content-Type: text/plain; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

The night tram to the caf=E9 runs again from Friday on, every half =
hour.
> Does it run?
";

/// A message of plain text and a page, with a file.
const ALTERNATIVE: &str = "\
Received: by example.net; Wed, 6 Mar 2024 10:00:00 +0100
Message-ID: <two@example.org>
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=outer

--outer
Content-Type: multipart/alternative; boundary=inner

--inner
Content-Type: text/plain; charset=utf-8

The night tram to the café runs again from Friday on, every half hour.
--inner
Content-Type: text/html; charset=utf-8

<p>The <b>night tram</b></p>
--inner--
--outer
Content-Type: application/octet-stream
Content-Disposition: attachment; filename=a.bin
Content-Transfer-Encoding: base64

AAAA
--outer--
";

const PAGE: &str = "\
From: <Saved by a browser>
MIME-Version: 1.0
Content-Type: multipart/related; boundary=b; type=\"text/html\"

--b
Content-Type: text/html; charset=utf-8
Content-Transfer-Encoding: quoted-printable

<title>Trams</title><script>let a =3D 1;</script><p>The night tram</p><p>runs=
 again.</p>
--b
Content-Type: image/png
Content-Transfer-Encoding: base64

iVBORw0K
--b--
";

/// The keys and texts of the documents in `path`, and the reasons of what is left out.
fn read(path: &Path, options: &Options) -> (Vec<(String, String)>, Vec<Reason>) {
    let (mut texts, mut reasons) = (Vec::new(), Vec::new());
    for read in options.open([path]).unwrap() {
        match read {
            Ok(document) => texts.push((document.key.clone(), document.text().trim().to_owned())),
            Err(skipped) => reasons.push(skipped.reason),
        }
    }
    (texts, reasons)
}

fn texts(path: &Path, options: &Options) -> Vec<String> {
    let (texts, reasons) = read(path, options);
    assert_eq!(reasons, []);
    texts.into_iter().map(|(_, text)| text).collect()
}

#[test]
fn the_text_of_a_message_is_its_decoded_body() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let tram = "The night tram to the café runs again from Friday on, every half hour.";
    fs::write(path("a.eml"), PLAIN).unwrap();
    fs::write(path("b.eml"), ALTERNATIVE).unwrap();
    fs::write(path("c.mht"), PAGE).unwrap();
    fs::write(path("d.eml"), PLAIN.replace('\n', "\r\n")).unwrap();
    let all = Options::new();
    let plain = &texts(&path("a.eml"), &all)[0];
    assert_eq!(*plain, format!("{tram}\n> Does it run?"));
    assert_eq!(texts(&path("a.eml"), &all.clone().quoted(false)), [tram]);
    assert_eq!(texts(&path("d.eml"), &all.clone().quoted(false)), [tram]);
    assert_eq!(texts(&path("b.eml"), &all), [tram]);
    let page = &texts(&path("c.mht"), &all)[0];
    assert!(
        page.contains("The night tram") && page.contains("runs again."),
        "{page}"
    );
    assert!(!page.contains("let a"), "{page}");
}

#[test]
fn what_is_no_message_is_named_and_what_has_no_text_is_a_document_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let mail = folder.path().join("mail");
    fs::create_dir(&mail).unwrap();
    let path = |name: &str| mail.join(name);
    fs::write(path("note.eml"), "Dear diary\n\nno mail\n").unwrap();
    let (texts, reasons) = read(&path("note.eml"), &Options::new());
    assert_eq!((texts, reasons.len()), (Vec::new(), 1));
    for (name, picture) in [("one.eml", "iVBO"), ("two.eml", "Rw0K")] {
        let head =
            "MIME-Version: 1.0\nContent-Type: image/png\nContent-Transfer-Encoding: base64\n\n";
        fs::write(path(name), format!("{head}{picture}\n")).unwrap();
    }
    fs::remove_file(path("note.eml")).unwrap();
    let out = folder.path().join("out");
    let done = Dedup::new([&mail]).output(&out).run(|_| {}).unwrap();
    assert_eq!((done.documents, done.kept), (2, 2));
}

#[test]
fn a_mailbox_has_a_document_for_each_message() {
    let folder = tempfile::tempdir().unwrap();
    let nameless = "Subject: none\n\nA message without a key\n>From the start\n";
    let mailbox = format!("{FROM}{PLAIN}\n{FROM}{ALTERNATIVE}\n{FROM}{nameless}\n");
    for name in ["all.mbox", "Inbox"] {
        let path = folder.path().join(name);
        fs::write(&path, &mailbox).unwrap();
        let (texts, reasons) = read(&path, &Options::new());
        assert_eq!(reasons, []);
        let keys: Vec<&str> = texts.iter().map(|(key, _)| key.as_str()).collect();
        let third = format!("{}#3", path.display());
        assert_eq!(keys, ["one@example.org", "two@example.org", &third]);
        assert_eq!(texts[2].1, "A message without a key\nFrom the start");
    }
    // A file that begins like a sentence is a text.
    let path = folder.path().join("letter");
    fs::write(&path, "From Monday on, the tram runs at 10:30\n").unwrap();
    assert_eq!(read(&path, &Options::new()).0.len(), 1);
}

#[test]
fn the_messages_that_are_kept_are_a_mailbox_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let own = "Message-ID: <three@x>\n\n>From here on nobody knows who painted the harbour crane\n";
    let kept = [format!("{FROM}{PLAIN}\n"), format!("{FROM}{own}\n")];
    let (bare, _file) = ALTERNATIVE
        .split_once("--outer\nContent-Type: application")
        .unwrap();
    let mailbox = format!("{}{FROM}{bare}--outer--\n\n{}", kept[0], kept[1]);
    fs::write(path("in.mbox"), mailbox).unwrap();
    let options = Options::new().quoted(false);
    let dedup = Dedup::new([path("in.mbox")])
        .reading(options)
        .keep(Keep::First);
    let done = dedup.output(path("out.mbox")).run(|_| {}).unwrap();
    assert_eq!((done.documents, done.kept), (3, 2));
    assert_eq!(fs::read_to_string(path("out.mbox")).unwrap(), kept.concat());
}

#[test]
fn files_of_a_maildir_are_messages() {
    let folder = tempfile::tempdir().unwrap();
    let mail = folder.path().join("mail");
    for name in ["cur", "new", "tmp"] {
        fs::create_dir_all(mail.join(name)).unwrap();
    }
    fs::write(mail.join("cur/1700.M1P2.host:2,S"), PLAIN).unwrap();
    fs::write(mail.join("new/1701.M1P2.host"), ALTERNATIVE).unwrap();
    let found = texts(&mail, &Options::new().quoted(false));
    assert_eq!(found.len(), 2);
    assert_eq!(found[0], found[1]);
    // A copy may lack empty folders, and what is being delivered is a message, too.
    fs::rename(mail.join("new"), mail.join("tmp/new")).unwrap();
    fs::rename(mail.join("tmp/new/1701.M1P2.host"), mail.join("tmp/1701")).unwrap();
    fs::remove_dir(mail.join("tmp/new")).unwrap();
    assert_eq!(texts(&mail, &Options::new().quoted(false)), found);
    fs::remove_dir_all(mail.join("tmp")).unwrap();
    assert_eq!(texts(&mail, &Options::new().quoted(false)), found[..1]);
    // Another folder called so is one of texts.
    fs::rename(mail.join("cur/1700.M1P2.host:2,S"), mail.join("cur/1700")).unwrap();
    assert!(texts(&mail, &Options::new())[0].contains("Message-ID"));
}

const TRAM: &str = "The night tram to the café runs again from Friday on, every half hour.";

/// The text of a message with these headers and this body.
fn text_of(message: &[u8], options: &Options) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.eml");
    fs::write(&path, message).unwrap();
    texts(&path, options).remove(0)
}

#[test]
fn messages_that_programs_write_wrongly_are_read() {
    let all = Options::new();
    let mixed = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n";
    // The end of the parts is missing, as in a message that was cut off.
    let cut = format!("{mixed}--b\n\nOne.\n--b\n\n{TRAM}");
    assert_eq!(text_of(cut.as_bytes(), &all), format!("One.\n\n{TRAM}"));
    let inner = "Content-Type: multipart/alternative; boundary=c";
    let cut = format!("{mixed}--b\n{inner}\n\n--c\n\n{TRAM}\n");
    assert_eq!(text_of(cut.as_bytes(), &all), TRAM);
    // A list added lines behind Base64.
    let head = "MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n";
    let base64 = "Content-Transfer-Encoding: base64\n\nVGhlIG5pZ2h0IHRyYW0gcnVucyBh\nZ2Fpbi4K\n";
    let message = format!("{head}{base64}_____\nAll rights reserved\n");
    let text = text_of(message.as_bytes(), &all);
    assert_eq!(
        text,
        "The night tram runs again.\n_____\nAll rights reserved"
    );
    // No encoding is named: it is guessed, unless it is given.
    let latin = |text: &str| text.chars().map(|it| u8::try_from(it).unwrap()).collect();
    let latin: Vec<u8> = latin(&format!("Subject: a\n\n{TRAM} {TRAM}\n"));
    assert_eq!(text_of(&latin, &all), format!("{TRAM} {TRAM}"));
    let greek = all.clone().encoding("iso-8859-7".parse().unwrap());
    assert!(text_of(&latin, &greek).contains("cafι"));
    // A plain text that only says that there is a page.
    let page = format!("<p>{TRAM}</p>").repeat(5);
    let both = format!(
        "MIME-Version: 1.0\nContent-Type: multipart/alternative; boundary=b\n\n--b\n\nUse a program that shows \
         pages.\n--b\nContent-Type: text/html; charset=utf-8\n\n{page}\n--b--\n"
    );
    assert!(text_of(both.as_bytes(), &all).starts_with(TRAM));
    let [longer, brief] = [
        "It says what the sender wrote, and no stub has it.",
        "Online",
    ]
    .map(|page| {
        let stub = "This message was sent as a page, which your program cannot show.";
        let both = "MIME-Version: 1.0\nContent-Type: multipart/alternative; boundary=b\n\n--b\n\n";
        let page = format!("--b\nContent-Type: text/html; charset=utf-8\n\n<p>{page}</p>\n--b--\n");
        text_of(format!("{both}{stub}\n{page}").as_bytes(), &all)
    });
    assert!(
        longer.starts_with("It says") && brief.starts_with("This message"),
        "{longer}; {brief}"
    );
    // Nothing is nothing in any encoding.
    let empty = "MIME-Version: 1.0\nContent-Transfer-Encoding: base64\n\nCgo=\n";
    assert_eq!(text_of(empty.as_bytes(), &all), "");
    // Text of another kind, where there is no other.
    let calendar =
        format!("MIME-Version: 1.0\nContent-Type: text/calendar; charset=utf-8\n\n{TRAM}\n");
    assert_eq!(text_of(calendar.as_bytes(), &all), TRAM);
}

#[test]
fn line_ends_and_encodings_make_no_other_text() {
    let head = "MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n";
    let plain = format!("{head}\nThe night tram runs again.\n\n");
    let base64 = format!(
        "{head}Content-Transfer-Encoding: base64\n\nVGhlIG5pZ2h0IHRyYW0gcnVucyBhZ2Fpbi4=\n"
    );
    let all = Options::new();
    assert_eq!(
        text_of(plain.as_bytes(), &all),
        text_of(base64.as_bytes(), &all)
    );
}

/// An invoice with the same letter each month, and a file of its own.
#[test]
fn what_is_attached_keeps_a_message() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let message = |number: usize, file: &str, kind: &str| {
        let letter = "Please find the invoice of this month attached, and pay it within ten days.";
        let (kind, file) = if kind.contains("FILE") {
            (kind.replace("FILE", file), "")
        } else {
            (kind.to_owned(), file)
        };
        format!(
            "{FROM}Message-ID: <{number}@x>\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\
             Content-Type: multipart/alternative; boundary=c\n\n--c\n\n{letter}\n{kind}\n\n{file}\n--b--\n\n"
        )
    };
    let kinds = [
        "--c--\n--b\nContent-Type: application/pdf\nContent-Disposition: attachment",
        // A picture that is shown, and a list of parts without an end.
        "--c--\n--b\nContent-Type: image/jpeg; name=a.jpeg",
        "--b\nContent-Type: application/pdf\nContent-Disposition: attachment",
        // A file that is elsewhere.
        "--c--\n--b\nContent-Type: message/external-body; access-type=URL; URL=\"http://x/FILE\"",
        // What stands behind the parts may be a message of its own, whose first line was changed.
        "--c--\n--b--\n\n>From ada\nSubject: FILE",
    ];
    for kind in kinds {
        let kept = [message(1, "May", kind), message(2, "June", kind)];
        let again = [message(1, "May", kind), message(2, "June", kind)].concat();
        let again = again.replace("<1@x>", "<3@x>").replace("<2@x>", "<4@x>");
        fs::write(path("in.mbox"), kept.concat() + &again).unwrap();
        let are_closed = kind.starts_with("--c--");
        for (keep, name) in [(Keep::First, "first"), (Keep::Longest, "longest")] {
            let dedup = Dedup::new([path("in.mbox")]).keep(keep).replace(true);
            let done = dedup.output(path(name)).run(|_| {}).unwrap();
            assert_eq!(done.kept, if are_closed { 2 } else { 4 }, "{kind}");
            let written = fs::read_to_string(path(name)).unwrap();
            assert!(written.starts_with(&kept.concat()), "{written}");
        }
    }
}

#[test]
fn a_message_that_only_lacks_its_last_line_is_a_copy() {
    let folder = tempfile::tempdir().unwrap();
    let message = format!(
        "From: ada@example.org\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\n{TRAM}\n"
    );
    fs::write(folder.path().join("a.eml"), format!("{message}--b--\n")).unwrap();
    fs::write(folder.path().join("b.eml"), message).unwrap();
    let kept = tempfile::tempdir().unwrap();
    let dedup = Dedup::new([folder.path()]).output(kept.path().join("kept"));
    assert_eq!(dedup.run(|_| {}).unwrap().kept, 1);
}
