//! `rename`: a document gets another key.

use crate::sandbox::{Sandbox, text};

#[test]
fn a_document_gets_another_key_and_keeps_the_rest() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", text(1, 40));
    sandbox.write("b.txt", text(2, 40));
    sandbox.add(&["a.txt", "b.txt"], 0);
    let shown = |key: &str| {
        let mut shown = sandbox
            .run(&["--json", "show", key])
            .expect(0)
            .objects()
            .remove(0);
        let fields = shown.as_object_mut().unwrap();
        fields.retain(|name, _| name != "key" && name != "file");
        shown
    };
    let before = shown("a.txt");
    let ran = sandbox.run(&["rename", "a.txt", "c"]).expect(0);
    assert_eq!(ran.stdout, "renamed a.txt to c\n");
    assert_eq!(shown("c"), before);
    assert_eq!(sandbox.run(&["list"]).lines(), ["b.txt", "c"]);
    // An earlier document with the new key makes room.
    let ran = sandbox.run(&["rename", "c", "b.txt"]).expect(0);
    assert!(
        ran.stderr
            .contains("called b.txt before is not stored any more")
    );
    assert_eq!(sandbox.run(&["list"]).lines(), ["b.txt"]);
    assert_eq!(shown("b.txt"), before);
    let escaped = ["rename", "--escaped", "b.txt", r"x\ny"];
    sandbox.run(&escaped).expect(0);
    assert_eq!(sandbox.run(&["list"]).lines(), [r"x\ny"]);
}

#[test]
fn a_key_that_no_document_has_is_named() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", text(1, 40));
    sandbox.add(&["a.txt"], 0);
    let ran = sandbox.run(&["rename", "z", "y"]).expect(1);
    assert_eq!(ran.stderr, "dedupdb: z: no document has this key\n");
    assert!(ran.stdout.is_empty());
    sandbox.run(&["rename", "a.txt", ""]).expect(2);
    assert_eq!(sandbox.run(&["list"]).lines(), ["a.txt"]);
}
