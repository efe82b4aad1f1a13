//! `decontaminate`: benchmark items in a corpus.

use std::fs;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::RowAccessor as _;
use parquet::schema::parser::parse_message_type;
use serde_json::{Value, json};

use crate::compressed::gz;
use crate::dedup_parquet::{self, bytes, column};
use crate::parquet::parquet;
use crate::sandbox::{Ran, Sandbox, text};

/// Lines of JSON.
fn lines(records: &[Value]) -> String {
    let lines = records.iter().map(|record| format!("{record}\n"));
    lines.collect()
}

/// The words of a text.
fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

/// A text between others.
fn around(seed: u64, text_within: &str) -> String {
    format!("{}.\n{text_within}\n{}", text(seed, 40), text(seed + 1, 40))
}

/// A benchmark of two fields, and a corpus whose documents are called what they have.
fn planted(sandbox: &Sandbox) {
    let question = |number: u64| text(100 + number, 30);
    let records: Vec<Value> = (0..6)
        .map(|number| {
            let answer = if number == 5 {
                "only three words".to_owned()
            } else {
                text(200 + number, 9)
            };
            json!({"id": format!("q{number}"), "question": question(number), "answer": answer})
        })
        .collect();
    sandbox.write("bench.jsonl", lines(&records));
    let wrapped = words(&question(1)).join(",\n  ").to_uppercase();
    let mut replaced = question(2);
    for number in [4, 16, 27] {
        let word = words(&question(2))[number].to_owned();
        replaced = replaced.replace(&word, "other");
    }
    let part = words(&question(3))[8..21].join(" ");
    let short_part = words(&question(3))[8..20].join(" ");
    let both = format!("{} {}", question(4), text(204, 9));
    let most_of_answer = words(&text(200, 9))[..7].join(" ");
    let documents = [
        ("whole", around(1, &question(0))),
        ("wrapped", around(3, &wrapped)),
        ("replaced", around(5, &replaced)),
        ("part", around(7, &part)),
        ("twelve words", around(9, &short_part)),
        ("both", around(11, &both)),
        ("seven of nine words", around(13, &most_of_answer)),
        ("too short", around(15, "only three words")),
        ("nothing", text(17, 80)),
    ];
    let documents = documents.map(|(id, text)| json!({"id": id, "text": text, "more": 1}));
    sandbox.write("train.jsonl", lines(&documents));
}

const FIELDS: [&str; 6] = [
    "--against",
    "bench.jsonl",
    "--against-field",
    "question",
    "--against-field",
    "answer",
];

#[test]
fn documents_with_an_item_are_listed_and_dropped() {
    let sandbox = Sandbox::new();
    planted(&sandbox);
    let listed = sandbox.run(&[&["decontaminate", "train.jsonl"], &FIELDS[..]].concat());
    let listed = listed.expect(0);
    let hits = listed.lines();
    let hits: Vec<Vec<&str>> = hits.iter().map(|line| line.split('\t').collect()).collect();
    let named: Vec<&[&str]> = hits.iter().map(|hit| &hit[..6]).collect();
    let expected = [
        ["whole", "bench.jsonl", "q0", "question", "30", "30"],
        ["wrapped", "bench.jsonl", "q1", "question", "30", "30"],
        ["replaced", "bench.jsonl", "q2", "question", "30", "11"],
        ["part", "bench.jsonl", "q3", "question", "30", "13"],
        ["both", "bench.jsonl", "q4", "question", "30", "30"],
        ["both", "bench.jsonl", "q4", "answer", "9", "9"],
    ];
    assert_eq!(named, expected, "{}", listed.stdout);
    let part = &hits[3];
    assert_eq!(
        part[6..8],
        ["0.4333", "0.1398"],
        "13 of 30 and 13 of 93 words"
    );
    assert_eq!(part[10..12], ["9", "21"]);
    assert_eq!(part[12], words(&text(103, 30))[8..21].join(" "));
    let (start, end): (usize, usize) = (part[8].parse().unwrap(), part[9].parse().unwrap());
    let document = around(7, &words(&text(103, 30))[8..21].join(" "));
    assert_eq!(&document[start..end], part[12]);
    assert!(listed.stderr.contains("1 too short"), "{}", listed.stderr);
}

#[test]
fn an_output_has_the_documents_without_items_and_a_list_has_the_hits() {
    let sandbox = Sandbox::new();
    planted(&sandbox);
    let files = ["-o", "clean.jsonl", "--hits", "hits.jsonl"];
    let asked = [
        &["--json", "decontaminate", "train.jsonl"],
        &FIELDS[..],
        &files,
    ]
    .concat();
    let summary = &sandbox.run(&asked).expect(0).objects()[0];
    assert_eq!(summary["documents"], 9);
    assert_eq!((&summary["kept"], &summary["hit"]), (&4.into(), &5.into()));
    let counts = &summary["benchmarks"][0];
    let counts = ["items", "hit", "unchecked", "documents"].map(|name| counts[name].as_u64());
    assert_eq!(counts, [12, 6, 1, 5].map(Some));
    // What is kept is kept byte for byte.
    let train = fs::read_to_string(sandbox.path("train.jsonl")).unwrap();
    let kept = train.lines().filter(|line| {
        let names = [
            "twelve words",
            "seven of nine words",
            "too short",
            "nothing",
        ];
        names
            .iter()
            .any(|name| line.contains(&format!("\"{name}\"")))
    });
    let kept: Vec<&str> = kept.collect();
    assert_eq!(
        fs::read_to_string(sandbox.path("clean.jsonl"))
            .unwrap()
            .lines()
            .collect::<Vec<_>>(),
        kept
    );
    let hits = fs::read_to_string(sandbox.path("hits.jsonl")).unwrap();
    let hits: Vec<Value> = hits
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let longest: Vec<Option<u64>> = hits.iter().map(|hit| hit["longest"].as_u64()).collect();
    assert_eq!(longest, [30, 30, 11, 13, 30, 9].map(Some));
    assert_eq!(hits[0]["text"], text(100, 30));
    // An output stays unless another one is wanted in its place.
    sandbox.run(&asked).expect(2);
}

#[test]
fn marks_say_which_item_a_document_has() {
    let sandbox = Sandbox::new();
    planted(&sandbox);
    let mark = ["-o", "marked.jsonl", "--mark", "b"];
    let asked = [&["decontaminate", "train.jsonl"], &FIELDS[..], &mark].concat();
    sandbox.run(&asked).expect(0);
    let marked = fs::read_to_string(sandbox.path("marked.jsonl")).unwrap();
    let train = fs::read_to_string(sandbox.path("train.jsonl")).unwrap();
    let mut marks = Vec::new();
    for (marked, line) in marked.lines().zip(train.lines()) {
        assert!(marked.starts_with(line.trim_end_matches('}')), "{marked}");
        let marked: Value = serde_json::from_str(marked).unwrap();
        let names = ["b_keep", "b_items", "b_item", "b_coverage"];
        marks.push(json!(names.map(|name| &marked[name])).to_string());
    }
    let clean = r#"[true,0,"",0.0]"#;
    let expected = [
        r#"[false,1,"q0",1.0]"#,
        r#"[false,1,"q1",1.0]"#,
        r#"[false,1,"q2",0.7]"#,
        r#"[false,1,"q3",0.43333333333333335]"#,
        clean,
        r#"[false,2,"q4",1.0]"#,
        clean,
        clean,
        clean,
    ];
    assert_eq!(marks, expected);
}

#[test]
fn other_bounds_find_shorter_parts() {
    let sandbox = Sandbox::new();
    planted(&sandbox);
    let found = |more: &[&str]| {
        let asked = [&["decontaminate", "train.jsonl"], &FIELDS[..], more].concat();
        let ran = sandbox.run(&asked).expect(0);
        let documents = ran
            .lines()
            .into_iter()
            .map(|line| line.split('\t').next().unwrap().to_owned());
        documents.collect::<Vec<_>>()
    };
    assert!(found(&["--passage", "12"]).contains(&"twelve words".to_owned()));
    assert!(found(&["--passage", "7"]).contains(&"seven of nine words".to_owned()));
    let exact = found(&["--passage", "30", "--containment", "1"]);
    assert_eq!(exact, ["whole", "wrapped", "both", "both"]);
    // Read the other way round, the documents are the items.
    let asked = [
        "decontaminate",
        "bench.jsonl",
        "--text-field",
        "question",
        "--against",
        "train.jsonl",
    ];
    let ran = sandbox
        .run(&[&asked[..], &["--against-field", "text"]].concat())
        .expect(0);
    assert_eq!(ran.lines().len(), 4, "{}", ran.stdout);
}

#[test]
fn characters_of_scripts_without_spaces_are_words() {
    let sandbox = Sandbox::new();
    let item = "孔子曰學而時習之不亦說乎有朋自遠方來不亦樂乎";
    sandbox.write("bench.txt", item);
    let wrapped = "他們說：孔子曰：「學而時習之，不亦說乎？\n有朋自遠方來，不亦樂乎？」然後散了。";
    sandbox.write("train/a.txt", wrapped);
    sandbox.write("train/b.txt", "學而時習之，三人行，必有我師焉。");
    let asked = [
        "decontaminate",
        "train",
        "--against",
        "bench.txt",
        "-o",
        "clean",
    ];
    sandbox.run(&asked).expect(0);
    assert!(sandbox.path("clean/b.txt").exists() && !sandbox.path("clean/a.txt").exists());
}

#[test]
fn marks_of_scripts_without_spaces_are_words() {
    // Thai, Lao, Khmer and Myanmar, with vowels and tones above and below their letters.
    let items = [
        "น้ำท่วมใหญ่ที่กรุงเทพเกิดขึ้นในปีใด",
        "ເມືອງຫຼວງຂອງປະເທດລາວຊື່ວ່າຫຍັງ",
        "តើទីក្រុងណាជារដ្ឋធានីនៃប្រទេសកម្ពុជា",
        "မြန်မာနိုင်ငံ၏မြို့တော်အမည်ကိုဖော်ပြပါ",
    ];
    let sandbox = Sandbox::new();
    let records = items.map(|item| json!({"id": item, "text": item}));
    sandbox.write("bench.jsonl", lines(&records));
    let spaced = |item: &str| {
        // As typesetting programs break lines: before a letter, which no mark is.
        let broken = item.chars().enumerate().map(|(number, c)| {
            let is_break = number % 4 == 3 && c.is_alphabetic();
            if is_break {
                format!("\u{200b}{c}")
            } else {
                c.to_string()
            }
        });
        broken.collect::<String>()
    };
    let documents = items.iter().flat_map(|item| {
        let whole = format!("{}: {item} ({})", text(1, 20), text(2, 20));
        let broken = format!("{} {}", text(3, 20), spaced(item));
        // Thai and Lao write one vowel as one character or as two.
        let decomposed = item.replace('\u{e33}', "\u{e4d}\u{e32}");
        let texts = [
            ("whole", whole),
            ("broken", broken),
            ("decomposed", decomposed),
        ];
        texts.map(|(how, text)| json!({"id": format!("{how} {item}"), "text": text}))
    });
    let other = items.map(|item| item.chars().take(8).collect::<String>());
    let other = other.map(|text| json!({"id": text, "text": text}));
    let documents: Vec<Value> = documents.chain(other).collect();
    sandbox.write("train.jsonl", lines(&documents));
    let asked = [
        "decontaminate",
        "-q",
        "train.jsonl",
        "--against",
        "bench.jsonl",
    ];
    let listed = sandbox.run(&asked).expect(0);
    let found = listed.lines();
    let found = found
        .iter()
        .map(|line| line.split('\t').collect::<Vec<_>>());
    let found = found.map(|hit| (hit[0].to_owned(), hit[2].to_owned(), hit[6].to_owned()));
    let ways = ["whole", "broken", "decomposed"];
    let expected = items.iter().flat_map(|item| {
        ways.map(|how| {
            (
                format!("{how} {item}"),
                (*item).to_owned(),
                "1.0000".to_owned(),
            )
        })
    });
    assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
}

#[test]
fn a_file_of_the_benchmark_may_have_fields_of_its_own() {
    let sandbox = Sandbox::new();
    let [one, two, three] = [1, 2, 3].map(|seed| text(seed, 20));
    sandbox.write(
        "a.jsonl",
        lines(&[json!({"id": "a", "problem": one, "question": two})]),
    );
    sandbox.write(
        "b.jsonl",
        lines(&[json!({"id": "b", "question": three, "q:a": one})]),
    );
    let documents = [("1", &one), ("2", &two), ("3", &three)];
    let documents = documents.map(|(id, text)| json!({"id": id, "text": text}));
    sandbox.write("train.jsonl", lines(&documents));
    let found = |fields: &[&str]| {
        let fields = fields.iter().flat_map(|field| ["--against-field", field]);
        let asked = "decontaminate -q train.jsonl --against a.jsonl b.jsonl";
        let asked: Vec<&str> = asked.split(' ').chain(fields).collect();
        let listed = sandbox.run(&asked).expect(0);
        let hits = listed.lines();
        let hits = hits.iter().map(|line| line.split('\t').collect::<Vec<_>>());
        hits.map(|hit| [hit[0], hit[1], hit[3]].join(" "))
            .collect::<Vec<_>>()
    };
    let both = found(&["a.jsonl:problem", "question"]);
    assert_eq!(both, ["1 a.jsonl problem", "3 b.jsonl question"]);
    let all = found(&["a.jsonl:question", "a.jsonl:problem", "b.jsonl:q:a"]);
    let expected = ["1 a.jsonl problem", "1 b.jsonl q:a", "2 a.jsonl question"];
    let mut sorted = all.clone();
    sorted.sort();
    assert_eq!(sorted, expected);
    // What names no file of the benchmark is the name of a field.
    let asked = "decontaminate train.jsonl --against a.jsonl --against-field c.jsonl:problem";
    sandbox.run(&asked.split(' ').collect::<Vec<_>>()).expect(2);
}

/// A file of rows with a key and a list of strings.
fn parquet_of_lists(rows: &[(&str, Option<&[Option<&str>]>)]) -> Vec<u8> {
    let schema = "message m { required binary id (UTF8); optional group choices (LIST) {
        repeated group list { optional binary element (UTF8); } } }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::default()).unwrap();
    let mut group = file.next_row_group().unwrap();
    let ids: Vec<ByteArray> = rows.iter().map(|(id, _)| bytes(id)).collect();
    column::<ByteArrayType>(&mut group, &ids, None, None);
    let (mut values, mut definition, mut repetition) = (Vec::new(), Vec::new(), Vec::new());
    for (_, list) in rows {
        match list {
            None | Some([]) => {
                definition.push(i16::from(list.is_some()));
                repetition.push(0);
            }
            Some(strings) => {
                for (number, string) in strings.iter().enumerate() {
                    definition.push(if string.is_some() { 3 } else { 2 });
                    repetition.push(i16::from(number > 0));
                    values.extend(string.map(bytes));
                }
            }
        }
    }
    column::<ByteArrayType>(&mut group, &values, Some(&definition), Some(&repetition));
    group.close().unwrap();
    file.into_inner().unwrap()
}

#[test]
fn each_string_of_a_list_is_an_item() {
    let sandbox = Sandbox::new();
    let choices: Vec<String> = (0..40).map(|seed| text(seed, 20)).collect();
    let choices: Vec<&str> = choices.iter().map(String::as_str).collect();
    let records = [
        json!({"id": "a", "choices": ["yes", choices[1], choices[2]]}),
        json!({"id": "b", "choices": choices[3]}),
        json!({"id": "c", "choices": []}),
        json!({"id": "d", "choices": [choices[4], 5]}),
        json!({"id": "e", "choices": [choices[5]]}),
    ];
    sandbox.write("a.jsonl", lines(&records));
    let many: Vec<Option<&str>> = choices[10..].iter().copied().map(Some).collect();
    let parquet = parquet_of_lists(&[
        (
            "a",
            Some(&[Some("yes"), Some(choices[1]), Some(choices[2])]),
        ),
        ("b", None),
        ("c", Some(&[])),
        ("d", Some(&[Some(choices[4]), None])),
        ("e", Some(&[Some(choices[5])])),
        ("f", Some(&many)),
    ]);
    sandbox.write("a.parquet", parquet);
    let documents = [("1", 1), ("2", 2), ("3", 3), ("4", 4), ("5", 5), ("6", 39)];
    let documents = documents.map(|(id, number)| json!({"id": id, "text": choices[number]}));
    sandbox.write("train.jsonl", lines(&documents));
    let of_both = ["1 a choices[1]", "2 a choices[2]", "5 e choices[0]"];
    for (benchmark, more, list) in [
        (
            "a.jsonl",
            &["3 b choices"][..],
            "\"choices\" leads to a list, and not of strings",
        ),
        (
            "a.parquet",
            &["4 d choices[0]", "6 f choices[29]"],
            "field \"choices[1]\": too short, an item has 5 words at least, and this has 0",
        ),
    ] {
        let asked =
            format!("decontaminate -v train.jsonl --against {benchmark} --against-field choices");
        let ran = sandbox.run(&asked.split(' ').collect::<Vec<_>>()).expect(2);
        let hits = ran.lines();
        let hits = hits.iter().map(|line| line.split('\t').collect::<Vec<_>>());
        let mut hits: Vec<String> = hits.map(|hit| [hit[0], hit[2], hit[3]].join(" ")).collect();
        hits.sort();
        let mut expected = [&of_both[..], more].concat();
        expected.sort_unstable();
        assert_eq!(hits, expected, "{benchmark}");
        for told in [list, "field \"choices[0]\""] {
            assert!(ran.stderr.contains(told), "{told}: {}", ran.stderr);
        }
    }
}

#[test]
fn a_field_with_lists_of_something_else_is_refused() {
    let sandbox = Sandbox::new();
    let document = json!({"id": "1", "text": text(1, 20)});
    sandbox.write("train.jsonl", lines(&[document]));
    sandbox.write("b.jsonl", lines(&[json!({"id": "a", "choices": [1, 2]})]));
    sandbox.write(
        "c.parquet",
        dedup_parquet::file(&[(["a", "b", "c"], [1, 2, 3])]),
    );
    for (benchmark, field, told) in [
        ("b.jsonl", "choices", "leads to a list, and not of strings"),
        ("c.parquet", "tags", "leads to a list, and not of strings"),
        ("c.parquet", "more", "it has no column \"more\""),
    ] {
        let asked =
            format!("decontaminate train.jsonl --against {benchmark} --against-field {field}");
        let ran = sandbox.run(&asked.split(' ').collect::<Vec<_>>()).expect(2);
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
    }
}

#[test]
fn an_item_in_many_documents_is_named() {
    let sandbox = Sandbox::new();
    let template = text(1, 12);
    let records = [
        json!({"id": "q1", "text": template}),
        json!({"id": "q2", "text": text(2, 20)}),
    ];
    sandbox.write("bench.jsonl", lines(&records));
    let documents: Vec<Value> = (0..5)
        .map(|number| json!({"id": number, "text": around(10 * number, &template)}))
        .collect();
    sandbox.write("train.jsonl", lines(&documents));
    let asked = [
        "decontaminate",
        "train.jsonl",
        "--against",
        "bench.jsonl",
        "--common",
        "4",
    ];
    let ran = sandbox.run(&asked).expect(0);
    assert!(
        ran.stderr.contains("bench.jsonl: q1 is in 5 documents"),
        "{}",
        ran.stderr
    );
    assert!(!ran.stderr.contains("q2"), "{}", ran.stderr);
}

#[test]
fn what_cannot_be_checked_is_an_error() {
    let sandbox = Sandbox::new();
    planted(&sandbox);
    sandbox.write("empty.jsonl", "");
    sandbox.write("short.jsonl", "{\"text\": \"only three words\"}\n");
    sandbox.write("broken.jsonl.gz", "no gzip");
    let refused = |more: &[&str], reason: &str| {
        let asked = [&["decontaminate"], more, &["-o", "clean.jsonl"]].concat();
        let ran = sandbox.run(&asked).expect(2);
        assert!(ran.stderr.contains(reason), "{more:?}: {}", ran.stderr);
        assert!(!sandbox.path("clean.jsonl").exists(), "{more:?}");
    };
    refused(
        &["train.jsonl", "--against", "train.jsonl"],
        "compared with itself",
    );
    refused(
        &["train.jsonl", "--against", "empty.jsonl"],
        "5 words or more",
    );
    refused(
        &["train.jsonl", "--against", "short.jsonl"],
        "5 words or more",
    );
    refused(
        &["train.jsonl", "--against", "bench.jsonl"],
        "no record has a text; nothing is written (--against-field names",
    );
    let fields = ["--against-field", "question", "--against-field", "choices"];
    refused(
        &[&["train.jsonl", "--against", "bench.jsonl"], &fields[..]].concat(),
        "no record has a text in \"choices\"",
    );
    refused(&["train.jsonl", "--against", "gone.jsonl"], "gone.jsonl");
    refused(
        &["train.jsonl", "--against", "short.jsonl", "broken.jsonl.gz"],
        "broken.jsonl.gz",
    );
    refused(&["gone.jsonl", "--against", "bench.jsonl"], "gone.jsonl");
    refused(
        &["train.jsonl", "--against", "-"],
        "names of files or folders",
    );
    refused(
        &["train.jsonl", "--against", "bench.jsonl", "--passage", "4"],
        "5..",
    );
    refused(
        &[
            "train.jsonl",
            "--against",
            "bench.jsonl",
            "--containment",
            "0",
        ],
        "--containment",
    );
    let named = [
        "decontaminate",
        "train.jsonl",
        "--against",
        "bench.jsonl",
        "-v",
    ];
    let named = [&named[..], &["--against-field", "answer"]].concat();
    let ran = sandbox.run(&named).expect(0);
    let line =
        "bench.jsonl:6, field \"answer\": too short, an item has 5 words at least, and this has 3";
    assert!(ran.stderr.contains(line), "{}", ran.stderr);
}

#[test]
fn texts_and_items_that_were_hard_to_compare() {
    let sandbox = Sandbox::new();
    let find = |item: &str, text: &str| {
        sandbox.write("bench.jsonl", lines(&[json!({"id": 1, "text": item})]));
        sandbox.write("train.jsonl", lines(&[json!({"id": "d", "text": text})]));
        let asked = ["decontaminate", "train.jsonl", "--against", "bench.jsonl"];
        sandbox.run(&asked).expect(0).lines().len()
    };
    // The hash of these two words is that of these five.
    let item = "a48639 the b340473 of c145917";
    assert_eq!(find(item, "answer 562988732"), 0);
    assert_eq!(find(item, &format!("It has {item}.")), 1);
    // An item that repeats itself is not in a few words.
    let zeros = "0 ".repeat(100);
    assert_eq!(
        find(&zeros, "the numbers 0 0 0 0 0 mean that nothing is there"),
        0
    );
    assert_eq!(find(&zeros, &"0 ".repeat(70)), 1);
    assert_eq!(find(&"a ".repeat(300), &"a ".repeat(400_000)), 1);
    let long = text(5, 60_000);
    assert_eq!(find(&long, &long), 1);
}

#[test]
fn ids_of_several_benchmarks_may_be_equal() {
    let sandbox = Sandbox::new();
    for (file, seed) in [("a.jsonl", 1), ("b.jsonl", 2)] {
        sandbox.write(file, lines(&[json!({"id": 0, "text": text(seed, 20)})]));
    }
    sandbox.write("empty.jsonl", "");
    let both = format!("{} {}", text(1, 20), text(2, 20));
    sandbox.write("train.jsonl", lines(&[json!({"id": "d", "text": both})]));
    let asked = [
        "--json",
        "decontaminate",
        "train.jsonl",
        "--hits",
        "hits.tsv",
        "--strict",
    ];
    let against = ["--against", "a.jsonl", "b.jsonl", "empty.jsonl"];
    let ran = sandbox.run(&[&asked[..], &against].concat()).expect(0);
    let summary = &ran.objects()[0];
    let items = summary["benchmarks"].as_array().unwrap().iter();
    let items: Vec<Option<u64>> = items.map(|counts| counts["items"].as_u64()).collect();
    assert_eq!(items, [1, 1, 0].map(Some));
}

#[test]
fn hits_are_listed_though_no_document_is_left() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "bench.jsonl",
        lines(&[json!({"id": 0, "text": text(1, 20)})]),
    );
    let hit = lines(&[json!({"id": "d", "text": text(1, 20)})]);
    sandbox.write("train.jsonl", hit.clone() + "no JSON\n");
    let asked = [
        "decontaminate",
        "train.jsonl",
        "--against",
        "bench.jsonl",
        "--hits",
        "hits.tsv",
    ];
    let run = |output: &str, code: i32| {
        let more = ["-o", output, "--force"];
        sandbox.run(&[&asked[..], &more].concat()).expect(code);
        let hits = fs::read_to_string(sandbox.path("hits.tsv")).unwrap();
        assert_eq!(hits.lines().count(), 1);
        fs::remove_file(sandbox.path("hits.tsv")).unwrap();
        fs::read_to_string(sandbox.path(output)).unwrap()
    };
    // One line cannot be read.
    assert_eq!(run("new.jsonl", 2), "");
    sandbox.write("train.jsonl", hit);
    assert_eq!(run("other.jsonl", 0), "");
    // Nothing replaces something only where that was asked for, and never by nothing.
    sandbox.write("old.jsonl", "something");
    assert_eq!(run("old.jsonl", 2), "something");
    let marked = ["-o", "old.jsonl", "--force", "--mark", "b"];
    sandbox.run(&[&asked[..], &marked].concat()).expect(0);
    assert!(
        fs::read_to_string(sandbox.path("old.jsonl"))
            .unwrap()
            .contains("b_keep")
    );
}

/// The item that the next tests cut.
const ITEM: &str = "Who painted the harbour crane in the colours of a parrot?";

fn cut(sandbox: &Sandbox, more: &[&str], code: i32) -> Ran {
    sandbox.write("bench.jsonl", lines(&[json!({"text": ITEM})]));
    let asked = ["--action", "cut", "--against", "bench.jsonl"];
    let all = [&["decontaminate"], more, &asked[..]].concat();
    sandbox.run(&all).expect(code)
}

#[test]
fn items_are_cut_from_records_which_keep_all_else() {
    for (format, before, behind) in [
        (
            "jsonl",
            format!(
                "{{\"id\":1, \"text\" : \"\u{e9}t\u{e9}.\\n{ITEM}\\nEnd.\", \"a\": [1]}}\r\n{{\"id\":2,\"text\":\"\"}}\n"
            ),
            "{\"id\":1, \"text\" : \"\u{e9}t\u{e9}.\\nEnd.\", \"a\": [1]}\r\n{\"id\":2,\"text\":\"\"}\n",
        ),
        (
            "csv",
            format!("id,text,a\n1,\"It rains, \"\"now\"\". {ITEM} End.\",x\n2,none,y\n"),
            "id,text,a\n1,\"It rains, \"\"now\"\". End.\",x\n2,none,y\n",
        ),
        (
            "tsv",
            format!("id\ttext\ta\n1\tIt rains. {ITEM} End.\tx\n2\tnone\ty\n"),
            "id\ttext\ta\n1\tIt rains. End.\tx\n2\tnone\ty\n",
        ),
        (
            "json",
            format!("[{{\"text\":\"It rains. {ITEM} End.\",\"b\":1}},\n {{\"text\":\"none\"}}]"),
            "[\n{\"text\":\"It rains. End.\",\"b\":1},\n{\"text\":\"none\"}\n]\n",
        ),
    ] {
        let sandbox = Sandbox::new();
        let (input, output) = (format!("in.{format}"), format!("out.{format}"));
        sandbox.write(&input, before);
        let ran = cut(&sandbox, &[&input, "-o", &output], 0);
        assert!(
            ran.stderr.contains("    cut                      1\n"),
            "{}",
            ran.stderr
        );
        assert_eq!(fs::read_to_string(sandbox.path(&output)).unwrap(), behind);
    }
}

#[test]
fn items_are_cut_from_rows_of_tables_and_from_files() {
    let sandbox = Sandbox::new();
    let ids: Vec<String> = (0..20).map(|number| number.to_string()).collect();
    // Rows 0, 3 and so on have the item; row 19 has nothing else.
    let texts = |item: &str| -> Vec<String> {
        let text = |number: u64| match number {
            19 => item.to_owned(),
            number if number.is_multiple_of(3) => {
                format!("Row {number}.{item} {}.", text(number, 90))
            }
            number => text(number, 90),
        };
        (0..20).map(text).collect()
    };
    let ids = ids.iter().map(|id| Some(&**id));
    let rows: Vec<_> = ids.zip(texts(&format!(" {ITEM}"))).collect();
    let schema = "message m { optional binary id (UTF8); required binary text (UTF8); }";
    sandbox.write("in.parquet", parquet(schema, &rows, 7, Compression::SNAPPY));
    cut(&sandbox, &["in.parquet", "-o", "out.parquet"], 0);
    cut(&sandbox, &["in.parquet", "-o", "out.jsonl"], 0);
    let found = dedup_parquet::rows(&sandbox, "out.parquet");
    let found = found.iter().map(|row| row.get_string(1).unwrap().clone());
    let expected = &texts("")[..19];
    assert_eq!(found.collect::<Vec<_>>(), expected);
    let found = fs::read_to_string(sandbox.path("out.jsonl")).unwrap();
    let found = found
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let found = found.map(|row| row["text"].as_str().unwrap().to_owned());
    assert_eq!(found.collect::<Vec<_>>(), expected);
    // A folder of files.
    sandbox.write("in/a.txt", format!("\u{e9}t\u{e9}.\n{ITEM}\nEnd.\n"));
    sandbox.write(
        "in/b.txt.gz",
        gz(format!("One.\n{ITEM}\nEnd.\n").as_bytes()),
    );
    sandbox.write(
        "in/c.txt",
        encoding_rs::WINDOWS_1252
            .encode(&format!("Le caf\u{e9} \u{e9}tait ferm\u{e9}. {ITEM} Fin."))
            .0,
    );
    sandbox.write("in/d.txt", ITEM);
    let ran = cut(&sandbox, &["in", "-o", "out"], 0);
    assert!(
        ran.stderr.contains("    dropped                  1\n"),
        "{}",
        ran.stderr
    );
    assert_eq!(
        fs::read_to_string(sandbox.path("out/a.txt")).unwrap(),
        "\u{e9}t\u{e9}.\nEnd.\n"
    );
    let file = fs::File::open(sandbox.path("out/b.txt.gz")).unwrap();
    let written = std::io::read_to_string(flate2::read::GzDecoder::new(file));
    assert_eq!(written.unwrap(), "One.\nEnd.\n");
    assert_eq!(
        fs::read(sandbox.path("out/c.txt")).unwrap(),
        b"Le caf\xe9 \xe9tait ferm\xe9. Fin."
    );
    assert!(!sandbox.path("out/d.txt").exists());
}

#[test]
fn what_has_no_text_as_it_is_is_not_cut() {
    let sandbox = Sandbox::new();
    sandbox.write("in/a.html", format!("<p>{ITEM}</p>"));
    let refused = cut(&sandbox, &["in", "-o", "out"], 2);
    assert!(
        refused.stderr.contains("in/a.html: its text cannot be cut"),
        "{}",
        refused.stderr
    );
    assert!(!sandbox.path("out").exists());
    sandbox.write("train.jsonl", lines(&[json!({"text": ITEM})]));
    for (more, what) in [
        (&["train.jsonl"][..], "-o names where"),
        (
            &["train.jsonl", "-o", "out.jsonl", "--mark", "b"],
            "--mark goes with --action mark alone",
        ),
        (
            &["train.jsonl", "-o", "out.jsonl", "--action", "list"],
            "leave out -o",
        ),
        (
            &[
                "train.jsonl",
                "-o",
                "out.jsonl",
                "--action",
                "drop",
                "--margin",
                "3",
            ],
            "--margin goes with --action cut alone",
        ),
    ] {
        let cut: &[&str] = if more.contains(&"--action") {
            &[]
        } else {
            &["--action", "cut"]
        };
        let asked = [&["decontaminate"], more, cut, &["--against", "bench.jsonl"]];
        let ran = sandbox.run(&asked.concat()).expect(2);
        assert!(ran.stderr.contains(what), "{}", ran.stderr);
    }
    // Marks have a name of their own.
    let asked = [
        "decontaminate",
        "train.jsonl",
        "--against",
        "bench.jsonl",
        "--action",
        "mark",
        "-o",
        "-",
    ];
    let marked = sandbox.run(&asked).expect(0);
    assert_eq!(marked.objects()[0]["benchmark_keep"], false);
}
