//! `dedup --removed`: the forms of the list.

use serde_json::json;

use crate::dedup::read;
use crate::sandbox::{Sandbox, text};

#[test]
fn a_list_of_what_is_dropped_can_be_a_table_for_a_spreadsheet() {
    let sandbox = Sandbox::new();
    let copy = |id: &str| json!({"id": id, "text": text(1, 40)}).to_string();
    let ids = ["a,\"b\"", "c\nd"];
    sandbox.write("in.jsonl", ids.map(copy).join("\n"));
    let ran = [
        "dedup",
        "in.jsonl",
        "-o",
        "out.jsonl",
        "--removed",
        "gone.csv",
    ];
    sandbox.run(&ran).expect(0);
    let header = "key,earlier,jaccard,estimate,error,exact_copy,stored_before,file,record,earlier_file,earlier_record,\
                  containment,measure";
    let row = "\"c\nd\",\"a,\"\"b\"\"\",1,1,0,true,false,in.jsonl,2,in.jsonl,1,1,jaccard";
    assert_eq!(read(&sandbox, "gone.csv"), format!("{header}\n{row}\n"));
    // The fields are those of JSON.
    let ran = [
        "dedup",
        "in.jsonl",
        "-o",
        "out2.jsonl",
        "--removed",
        "gone.jsonl",
    ];
    sandbox.run(&ran).expect(0);
    let line = read(&sandbox, "gone.jsonl");
    let place = |name: &str| line.find(&format!("\"{name}\":")).unwrap();
    let places: Vec<usize> = header.split(',').map(place).collect();
    assert!(places.is_sorted(), "{line}");
    assert_eq!(places.len(), line.matches("\":").count());
}
