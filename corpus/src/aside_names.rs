//! Names of files and folders that tell a copy, a backup, trash, or what a program put there.

mod versions;

use std::path::{Component, Path};

use unicode_normalization::UnicodeNormalization;

use crate::is_compressed;
pub(crate) use versions::{PartedPath, is_copy_of};

/// Words or names, in small letters, with commas between them.
#[derive(Clone, Copy)]
struct Words(&'static str);

impl Words {
    fn iter(self) -> impl Iterator<Item = &'static str> {
        self.0.split(", ")
    }

    /// Whether a name, in whatever letters, is one of these.
    fn have(self, name: &str) -> bool {
        let lower = name.to_lowercase();
        self.iter().any(|known| known == lower)
    }
}

/// Words that file managers put into the name of a copy: `a copy 2.txt`, `Kopie von a.txt`.
const COPY_WORDS: Words = Words(
    "backup, copia, copie, copy, còpia, cópia, duplicate, duplikat, kopi, kopia, kopie, kopija, kopio, kopya, \
     kopyası, kópia, másolat, másolata, salinan, sicherungskopie, αντίγραφο, копия, копія, העתק, עותק, نسخة, \
     สำเนา, コピー, 副本, 复件, 拷貝, 拷贝, 複本, 複製, 복사본, 사본",
);

/// The same where words are written without spaces.
const JOINED_COPY_WORDS: Words = Words("のコピー, 副本");

/// Those of them that need no other word in front of the name of the original: `Копия a.txt`.
const FIRST_COPY_WORDS: Words = Words("kopia, salinan, αντίγραφο, копия, копія, نسخة");

/// Words between such a word and the name of the original.
const OF_WORDS: Words = Words("af, av, da, de, di, do, from, of, van, vom, von, από, του, של, من");

/// Last words of the names that people and programs give to earlier versions: `a_old.txt`, `a.txt.bak`.
const OLD_WORDS: Words = Words(
    "alt, altes, ancien, ancienne, antigo, antiguo, autosaved, backup, bak, bkp, borrador, bozza, brouillon, \
     conflict, draft, entwurf, eski, gammal, konflikt, konfliktkopie, obsolete, old, orig, oud, precedente, \
     rascunho, rascunhos, recovered, respaldo, régi, sauvegarde, sav, save, sicherung, sicherungskopie, starý, \
     swp, vecchio, velho, veraltet, viejo, vieux, старое, старый, черновик, バックアップ, 备份, 旧, 旧版, 草稿, 백업",
);

/// What stands in the name of a file that two computers changed at a time, before a date or a computer's name.
const CONFLICT_SIGNS: [&str; 3] = [".sync-conflict-", "-LAPTOP-", "-DESKTOP-"];

/// Extensions of files that are not complete yet, not to be kept, or the settings that a program came with.
const PART_ENDS: Words = Words(
    "asd, crdownload, dist, download, dpkg-dist, dpkg-new, dpkg-old, example, filepart, pacnew, pacsave, part, \
     partial, rpmnew, rpmsave, sample, temp, tmp, ucf-dist, wbk",
);

/// Extensions of texts, one of which a `.bak` may have replaced.
const TEXT_ENDS: Words =
    Words("adoc, csv, eml, htm, html, json, log, markdown, md, rst, rtf, tex, text, tsv, txt, xml");

/// Last words of the names of folders with copies: `Laptop Backup`, `docs_old`.
const BACKUP_WORDS: Words = Words(
    "alt, ancien, antiguo, backup, backups, bak, bkp, datensicherung, old, orig, oud, reservekopie, respaldo, \
     sauvegarde, sauvegardes, sikkerhedskopi, sicherung, sicherungskopie, snapshots, säkerhetskopia, varmuuskopio, \
     vecchio, viejo, vieux, yedek, záloha, バックアップ, 備份, 备份, 백업",
);

/// Words for earlier devices, in the names of folders with copies: `Ancien PC`, `iCloud Drive (Archive)`.
const FORMER_WORDS: Words = Words(
    "alt, alte, alter, altes, ancien, ancienne, antigo, antiguo, archiv, archive, gammel, gamle, oude, stary, vecchio, \
     viejo, vieux, старый",
);

/// Names of what files are copied from or to, in the names of folders with copies: `Old laptop`, `Backup USB`.
const DEVICES: Words = Words(
    "computer, desktop, disco, disk, disque, drive, festplatte, handy, hdd, iphone, laptop, mac, macbook, notebook, \
     ordenador, ordinateur, pc, phone, portable, rechner, ssd, stick, tablet, usb, компьютер",
);

/// Names, maybe with a number, that programs give to new files.
const NEW_FILES: Words = Words(
    "att, document, document sans titre, documento, documento senza titolo, documento sin título, dokument, dokument \
     bez tytułu, download, img, neue notiz, neues textdokument, new note, new text document, nieuw tekstdocument, \
     nouveau document, nouveau document texte, novo documento de texto, nowy dokument tekstowy, nuevo documento de \
     texto, nuovo documento, nuovo documento di testo, nytt textdokument, scan, unbenanntes dokument, unsaved \
     document, untitled document, untitled note, uusi tekstiasiakirja, yeni metin belgesi, документ, документ без \
     названия, новый текстовый документ, مستند نصي جديد, 文档, 新しいテキスト ドキュメント, 新建 文本文档, 新建文本文档, 새 텍스트 문서",
);

/// The same for new files and folders.
const NEW_NAMES: Words = Words(
    "adsız, bez nazwy, bez názvu, bez tytułu, naamloos, namnlös, neuer ordner, new folder, nimetön, noname, nouveau \
     dossier, nueva carpeta, ohne titel, sans nom, sans titre, sem título, senza nome, senza titolo, sin título, \
     unbenannt, unbenannter ordner, unnamed, untitled, untitled folder, без имени, без названия, безымянный, 无标题, \
     名称未設定, 未命名, 無題, 제목 없음",
);

/// Words in the names of folders of what was thrown away, or is thrown away later: `Deleted Mail`, `to_delete`. A name
/// that has one counts at least like that of a folder of copies.
const TRASH_WORDS: Words = Words(
    "basura, borrar, borttaget, borttagna, cestino, corbeille, delete, deleted, discarded, eliminado, eliminados, \
     eliminare, eliminata, eliminati, excluídos, garbage, geloescht, geloeschte, geloeschtes, gelöscht, gelöschte, \
     gelöschtes, gereksiz, indesiderata, indésirable, indésirables, izbrisano, junk, kosz, koš, kôš, lixeira, lixo, \
     lomtár, löschen, miskaste, muell, müll, mülleimer, odstraněná, ongewenst, ongewenste, papelera, papierkorb, \
     papirkurv, papirkurven, papperskorg, papperskorgen, poistetut, poubelle, pourriel, prullenbak, prullenmand, \
     prügikast, raderade, recycle, recyclebin, recycled, recycler, roskakori, rubbish, sampah, silinenler, silinmiş, \
     slettede, slettet, spam, spamverdacht, spazzatura, supprimer, supprimé, supprimés, trash, trashcan, trashed, \
     törölt, unerwünscht, unerwünschte, usunięcia, usunięte, verwijderd, verwijderde, wastebasket, çöp, śmieci, \
     éliminés, șterse, κάδος, видалені, изтрити, корзина, кош, кошик, кошче, нежелательная, спам, удаленные, \
     удалить, удалённые, אשפה, المحذوفات, المحذوفة, المهملات, 削除, 要删除",
);

/// Words that stand beside these.
const BESIDE_TRASH: Words = Words(
    "alt, be, bin, box, can, correo, courrier, da, dateien, de, do, e, elemek, elemente, elementer, elementi, \
     elementos, elementy, eletrônico, email, fichiers, files, folder, gmail, inbox, items, itens, kutusu, mail, \
     mails, mbox, me, mensajes, messages, messaggi, my, nachrichten, network, notes, notizen, objekt, objekte, \
     objets, old, onlangs, para, posta, pošta, recently, reciclaje, sbd, senast, to, wiadomości, zu, zuletzt, \
     éléments, öğeler, ανακύκλωσης, елементи, почта, элементы, العناصر, سلة",
);

/// The same in scripts without spaces, `已删除邮件`, and where no word alone says it.
const TRASH_PARTS: Words = Words(
    "bulk mail, correo electrónico no deseado, correo no deseado, coș de gunoi, files_trashbin, geri dönüşüm kutusu, \
     izbrisane stavke, kann weg, odstranené položky, odstránené položky, thùng rác, waste basket, weg damit, önemsiz \
     e-posta, סל המיחזור, البريد غير الهام, ถังขยะ, ごみ箱, ゴミ箱, 刪除的郵件, 削除済み, 回收站, 回收筒, 垃圾, 已删除, 废纸篓, 最近删除, 最近刪除, 迷惑メール, \
     스팸, 지운 편지함, 휴지통",
);

/// Names of folders of copies, or of files that programs put there.
const SIDE_FOLDERS: Words = Words(
    "@eadir, __macosx, __pycache__, _build, _site, alte dateien, alte daten, alte dokumente, alte versionen, \
     anciens, attic, back up, backup, backups, backups.backupdb, bak, borradores, bower_components, bozze, \
     brouillons, build, cache, caches, content.outlook, copias de seguridad, copies, descargas, dist, doublons, \
     download, downloads, draft, drafts, dubletten, dupes, duplicados, duplicate files, duplicates, duplikate, dups, \
     entwürfe, filehistory, found.000, inetcache, kopie zapasowe, kopien, lost+found, lost.dir, my downloads, \
     node_modules, obj, old, old documents, old files, old folder, old stuff, old versions, older versions, out, \
     outdated, pobrane, previous versions, recovered, recovered files, recup_dir, respaldos, restored, scaricati, \
     säkerhetskopior, sicherung, sicherungen, sicherungskopien, site-packages, target, telegram desktop, temp, \
     temp files, temporary, temporary files, third-party, third_party, time machine, tmp, to sort, téléchargements, \
     unsorted, vendor, venv, viejos, загрузки, резервные копии, черновики, ダウンロード, 下载, 备份",
);

/// What a folder of what was thrown away counts: more than all other names of a path.
pub(crate) const THROWN_AWAY: usize = 8;

/// How many of the names of the file and its folders say that it is hidden, a copy, or not a person's: a backup, a library,
/// what a build made. A compressed file is one, too; trash counts more than these.
pub(crate) fn set_aside(path: &Path) -> usize {
    let mut names = names(path);
    let mut thrown_away = 0;
    let mut others = 0;
    if let Some(file) = names.next_back() {
        thrown_away += usize::from(is_deleted_message(&file) || is_trash_mailbox(&file));
        others += usize::from(is_copy_of_file(&file));
    }
    for name in names {
        let is_trash = is_trash(&name) || name.starts_with('.') && is_last_of(&name, SIDE_FOLDERS);
        thrown_away += usize::from(is_trash);
        others += usize::from(!is_trash && is_folder_aside(&name));
    }
    thrown_away * THROWN_AWAY + others.min(THROWN_AWAY - 1)
}

/// Returns the names of a file and its folders. Some systems write an accent as a character of its own.
fn names(path: &Path) -> impl DoubleEndedIterator<Item = String> {
    path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_string_lossy().nfc().collect()),
        _ => None,
    })
}

/// Whether a file is hidden, or in a hidden folder.
pub(crate) fn is_out_of_sight(path: &Path) -> bool {
    path.components().any(|component| match component {
        Component::Normal(name) => name.to_string_lossy().starts_with('.'),
        _ => false,
    })
}

/// Whether a file is hidden or was thrown away.
pub(crate) fn is_out_of_use(path: &Path) -> bool {
    is_out_of_sight(path) || set_aside(path) >= THROWN_AWAY
}

/// Where the part of a name begins that tells a conflict of two computers. That of a computer has a digit.
fn conflict(name: &str) -> Option<usize> {
    CONFLICT_SIGNS.iter().find_map(|sign| {
        let place = name.find(sign)?;
        name[place..]
            .contains(|letter: char| letter.is_ascii_digit())
            .then_some(place)
    })
}

/// Whether a folder is one of what was thrown away: `Deleted Mail`, `Trash 2024`, but not `Spam recipes`.
fn is_trash(name: &str) -> bool {
    let is_beside = |word: &str| {
        TRASH_WORDS.have(word)
            || BESIDE_TRASH.have(word)
            || word.bytes().all(|byte| byte.is_ascii_digit())
    };
    let lower = name.to_lowercase();
    let has_part = TRASH_PARTS.iter().any(|part| lower.contains(part));
    has_trash_word(name) && words(name).all(is_beside) || has_part || name == "Bin"
}

/// Whether a file is a mailbox of what was thrown away: `Trash` or `Junk.mbox`, but not `trash.txt`.
fn is_trash_mailbox(name: &str) -> bool {
    let stem = name.strip_suffix(".mbox").unwrap_or(name);
    !stem.contains('.') && is_trash(stem)
}

fn has_trash_word(name: &str) -> bool {
    words(name).any(|word| TRASH_WORDS.have(word))
}

/// Whether a folder has one of these names. In mail, a folder in a folder is `.INBOX.Trash` or `INBOX.Trash`.
fn is_last_of(name: &str, known: Words) -> bool {
    let last = name.rsplit('.').next().unwrap_or_default();
    known.have(name) || known.have(last)
}

/// Whether a message of a Maildir has the flag of one that was deleted: `1700000000.M1.host:2,ST`.
fn is_deleted_message(name: &str) -> bool {
    let flags = [":2,", ";2,", "!2,"]
        .iter()
        .find_map(|sign| Some(name.rsplit_once(sign)?.1));
    flags.is_some_and(|flags| {
        flags.contains('T') && flags.bytes().all(|flag| flag.is_ascii_alphabetic())
    })
}

/// Whether a file is named like a copy, or compressed.
fn is_copy_of_file(name: &str) -> bool {
    is_file_aside(name) || is_compressed(Path::new(name))
}

/// Whether the name of a file is that of a copy, or one that a program gave it.
fn is_file_aside(name: &str) -> bool {
    let (stem, end) = name.rsplit_once('.').unwrap_or((name, ""));
    let before = stem.rsplit_once('.').map_or("", |(_, before)| before);
    // A number at the end of a date is not that of a rotated log.
    let is_rotated = before.contains(char::is_alphabetic) && end.parse::<u32>().is_ok();
    let is_old = [end, stem].iter().any(|it| ends_with_one(it, OLD_WORDS));
    let is_conflict = conflict(name).is_some();
    let is_part = PART_ENDS.have(end) || is_conflict;
    let is_saved = name.ends_with('~')
        || name.starts_with("~$")
        || name.starts_with('#') && name.ends_with('#');
    // A name such as `.bashrc` is that of settings, which programs look for.
    let is_hidden = stem.starts_with('.') && stem.len() > 1;
    is_hidden
        || is_saved
        || [name, stem].iter().any(|it| is_copy(it))
        || is_old
        || is_rotated
        || is_part
        || is_new(stem, false)
        || is_short(stem)
}

/// Whether the name of a folder is that of a hidden folder, of copies, or of a program's files.
fn is_folder_aside(name: &str) -> bool {
    let lower = name.to_lowercase();
    let last = words(&lower).next_back().unwrap_or_default();
    let first = words(&lower).next().unwrap_or_default();
    let is_of_backup = ["backup", "sicherung"].contains(&numberless(first));
    let is_dated = is_of_backup && name.contains(char::is_numeric);
    let is_backup = is_dated
        || ends_with_one(name, BACKUP_WORDS)
        || begins_with_one_of(name, BACKUP_WORDS)
        || last.trim_end_matches('s').ends_with("backup");
    let has_one = |known: Words| words(name).any(|word| known.have(word));
    let is_of_device = (has_one(BACKUP_WORDS) || has_one(FORMER_WORDS)) && has_one(DEVICES);
    holds_copies(name) || is_copy(name) || name.ends_with('~') || is_backup || is_of_device
}

/// Whether a folder only holds copies, what was thrown away, or a program's files, whatever these are of.
fn holds_copies(name: &str) -> bool {
    // "old-town" is not a folder of old files.
    let numberless = name.trim_matches(|c: char| !c.is_alphabetic());
    let spaced = numberless.replace(['_', '-'], " ");
    let is_side = [name, numberless, &spaced]
        .iter()
        .any(|it| SIDE_FOLDERS.have(it) || OLD_WORDS.have(it));
    is_side || is_hidden(name) || is_new(name, true) || has_trash_word(name)
}

/// Whether a program gave this name to a new file or folder.
fn is_new(name: &str, is_folder: bool) -> bool {
    let numberless = name.trim_end_matches(|c: char| !c.is_alphabetic());
    NEW_NAMES.have(numberless) || !is_folder && NEW_FILES.have(numberless)
}

/// Whether this is a name in eight signs, as old systems shorten them: `LETTER~1`.
fn is_short(stem: &str) -> bool {
    let number = stem.rsplit_once('~').map(|(_, number)| number);
    stem.len() <= 8 && number.is_some_and(|number| number.parse::<u32>().is_ok())
}

/// Whether a folder is hidden. Programs look for their settings in `.config`.
fn is_hidden(name: &str) -> bool {
    name.starts_with('.') && name != ".config"
}

/// Whether a file manager named a copy: the name ends in a word such as `copy`, maybe with a number behind it, or in a
/// small number in brackets, or begins with `Copy of` or `Copy (2) of`.
fn is_copy(name: &str) -> bool {
    let is_numbered = [('(', ')'), ('[', ']')].iter().any(|&(open, close)| {
        let number = name.strip_suffix(close).and_then(|it| it.rsplit_once(open));
        number.is_some_and(|(name, number)| {
            let is_small = (1..=2).contains(&number.len());
            is_small && number.bytes().all(|byte| byte.is_ascii_digit()) && !name.is_empty()
        })
    });
    let is_joined = JOINED_COPY_WORDS.iter().any(|word| name.ends_with(word));
    is_numbered
        || is_joined
        || ends_with_one(name, COPY_WORDS)
        || begins_with_one_of(name, COPY_WORDS)
}

/// Whether this has digits, and no letters: `1`, or `~2~`.
fn is_number(end: &str) -> bool {
    !end.contains(char::is_alphabetic) && end.contains(char::is_numeric)
}

/// Whether a name begins with one of these words, maybe a number, and a word such as `of`.
fn begins_with_one_of(name: &str, known: Words) -> bool {
    let mut words = words(name);
    let first = words.next().unwrap_or_default();
    let is_number = |word: &&str| word.bytes().all(|byte| byte.is_ascii_digit());
    let second = words.find(|word| !is_number(word)).unwrap_or_default();
    let is_followed = OF_WORDS.have(second) || FIRST_COPY_WORDS.have(first) && !second.is_empty();
    known.have(first) && is_followed
}

/// Whether the last word of a name is one of these, maybe with a number behind it.
fn ends_with_one(name: &str, known: Words) -> bool {
    let mut words = words(name).rev().map(numberless);
    let last = words.find(|word| !word.is_empty());
    last.is_some_and(|last| known.have(last))
}

/// Returns a word without a number behind it.
fn numberless(word: &str) -> &str {
    word.trim_end_matches(|letter: char| letter.is_ascii_digit())
}

fn words(name: &str) -> impl DoubleEndedIterator<Item = &str> + Clone {
    let words = name.split(|letter: char| !letter.is_alphanumeric());
    words.filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_backups_are_set_aside() {
        for aside in [
            "report.bak",
            "report.txt~",
            "#report#",
            "a/Old/report.txt",
            "report.ORIG",
            "bak.txt",
            "p.bak.txt",
            "Report Kopie.txt",
            "copy.txt",
            "tale.txt.1",
            "a.txt.crdownload",
            "report.txt.gz",
            "node_modules/u/util.js",
            "Backup 2022/a.txt",
            "backup/a.txt",
            "notes - Copy/a.txt",
            "thesis copy 2.txt",
            "thesis - Copy (2).txt",
            "thesis (3rd copy).txt",
            "Kopie von thesis.txt",
            "Copie de thesis.txt",
            "thesis_old.txt",
            "CÓPIA de thesis.txt",
            "kopie2.txt",
            "Laptop Backup/a.txt",
            "Téléchargements/a.txt",
            "thesis (1).txt",
            "thesis(12).txt",
            "thesis [2].txt",
            "Docs (1)/a.txt",
            "Copy (2) of thesis.txt",
            "thesis duplicate.txt",
            "thesis 副本.txt",
            "a.txt_bak",
            "a.txt.bak1",
            "a.txt.partial",
            "a.sync-conflict-20240101-120000-ABC.txt",
            "Backup of laptop/a.txt",
            "Download/a.txt",
            "__MACOSX/a.txt",
            "Windows.old/a.txt",
            "Datensicherung 2024/a.txt",
            "found.000/a.txt",
            "draft/a.txt",
            "Duplicates/a.txt",
            "Backup USB/a.txt",
            "Ancien PC/a.txt",
            "anti-spam/a.txt",
            "Entwürfe/a.txt",
            "backup-2021-laptop/a.txt",
            "From old PC/a.txt",
            "iCloud Drive (Archive)/a.txt",
            "Recovered/a.txt",
            "New folder/a.txt",
            "Untitled 1.txt",
            "scan0001.txt",
            "LETTER~1.TXT",
            "letter-LAPTOP-7ABC.txt",
            "adduser.conf.dpkg-dist",
            "settings.ini.example",
            "~$letter.txt",
            "letter (Autosaved).txt",
            "recup_dir.1/f1.txt",
            "Kopie van letter.txt",
            ".Receipts/cur/1700000000.M1.host:2,FRS",
            ".l.txt",
        ] {
            assert_eq!(set_aside(Path::new(aside)), 1, "{aside}");
        }
    }

    #[test]
    fn names_of_trash_count_most_and_others_not() {
        for other in [
            "report.txt",
            "older/report.txt",
            "photocopying.txt",
            "chapter.1",
            "tmp.txt",
            "Old Testament.txt",
            "Document/report.txt",
            "Scan/report.txt",
            "Old Testament/genesis.txt",
            "Old letters 1950/a.txt",
            "Sicherungskasten 2019/a.txt",
            "old town/walk.txt",
            "backup plans/a.txt",
            "copy editing.txt",
            "save the date.txt",
            "thesis (2024).txt",
            "(1).txt",
            "minutes 12.03.2024",
            "a#b",
            "./report.txt",
            "../report.txt",
            ".bashrc",
            ".config/app/settings.ini",
            "document of my life.txt",
            "cur/1700000000.M1.host:2,FRS",
            "what is new.txt",
            "bin/a.txt",
            "Recycling/a.txt",
            "deseado/a.txt",
            "trash talk.txt",
            "Archive/a.txt",
        ] {
            assert_eq!(set_aside(Path::new(other)), 0, "{other}");
        }
        for trash in [
            ".trash/a.txt",
            "$RECYCLE.BIN/a.txt",
            "Spam/a.eml",
            "Junk E-mail/a.eml",
            "Junk/a.eml",
            "#recycle/a.txt",
            "Recently Deleted/a.txt",
            "ごみ箱/a.txt",
            "Deleted Messages/a.eml",
            ".Junk/cur/a",
            ".Drafts/cur/a",
            ".INBOX.Deleted Items/cur/a",
            "INBOX.Trash/a",
            "[Gmail]/Bin/a.txt",
            "Network Trash Folder/a.txt",
            "Senast raderade/a.txt",
            "最近删除/a.txt",
            "Trash 2024/a.txt",
            "to be deleted/a.txt",
            "Messages supprimés/a.eml",
            "Correo no deseado/a.eml",
            "Gelo\u{308}scht/a.txt",
            "Odstraněná pošta/a.eml",
            "سلة المهملات/a.txt",
            "已删除邮件/a.eml",
            "cur/1700000000.M1.host:2,ST",
            "Mail/Local Folders/Trash",
            "Junk.mbox",
            "Coș de gunoi/a.txt",
            "Papirkurven/a.txt",
            "Trash.sbd/2024",
        ] {
            assert!(set_aside(Path::new(trash)) >= THROWN_AWAY, "{trash}");
        }
    }

    #[test]
    fn trash_and_new_files_have_names_in_other_languages() {
        for trash in [
            "Śmieci/a.txt",
            "Wiadomości-śmieci/a.eml",
            "Önemsiz E-posta/a.eml",
            "Geri Dönüşüm Kutusu/a.txt",
            "العناصر المحذوفة/a.eml",
            "Bulk Mail/a.eml",
            "kann weg/a.txt",
            "Para borrar/a.txt",
            "Da eliminare/a.txt",
            "Do usunięcia/a.txt",
            "要删除/a.txt",
            "Gelöschte Dateien/a.txt",
            "Deleted Notes/a.txt",
            "old trash/a.txt",
            "Delete me/a.txt",
        ] {
            assert!(set_aside(Path::new(trash)) >= THROWN_AWAY, "{trash}");
        }
        for new in [
            "Untitled document.txt",
            "Documento 1.txt",
            "新建 文本文档.txt",
            "مستند نصي جديد (2).txt",
        ] {
            assert_eq!(set_aside(Path::new(new)), 1, "{new}");
        }
    }

    #[test]
    fn folders_in_folders_of_copies_are_no_trash() {
        let deep = "node_modules/".repeat(20) + "util.js";
        assert!(!is_out_of_use(Path::new(&deep)));
        assert!(set_aside(Path::new(&deep)) > set_aside(Path::new("old/build/util.js")));
        assert!(set_aside(Path::new(&deep)) < set_aside(Path::new("Trash/util.js")));
    }

    #[test]
    fn a_copy_may_be_named_in_any_language_and_behind_its_extension() {
        for aside in [
            "report.txt (1)",
            "Копия report.txt",
            "עותק של report.txt",
            "report副本.txt",
            "report kopyası.txt",
            "_drafts/report.txt",
            "00_Entwürfe/report.txt",
            "2023 drafts/report.txt",
            "report.txt - Kopie",
            "Essay의 사본.txt",
            "Essay - Másolat (2).txt",
            "Essay draft.txt",
        ] {
            assert_eq!(set_aside(Path::new(aside)), 1, "{aside}");
        }
    }

    #[test]
    fn folders_that_end_in_a_word_for_earlier_versions_are_set_aside() {
        for aside in [
            "docs_old",
            "docs-old",
            "docs.bak",
            "docs OLD 2",
            "Alte Festplatte",
            "Varmuuskopio",
            "notes.orig",
            "LOST.DIR",
            "MyBackup",
            "Dokumente_alt",
            "Briefe (alt)",
            "Backup alt",
            "Backup Mai 2020",
            "Sicherung vom 3.5.2020",
            "Backup vom Mai",
            "DailyBackups",
            "Back-up",
            "old_files",
            "alte_dateien",
            "temp files",
        ] {
            assert_eq!(set_aside(&Path::new(aside).join("a.txt")), 1, "{aside}");
        }
        for other in ["threshold", "old-town", "docs"] {
            assert_eq!(set_aside(&Path::new(other).join("a.txt")), 0, "{other}");
        }
    }
}
