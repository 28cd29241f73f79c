use super::Workspace;
#[test]
#[expect(clippy::disallowed_methods, reason = "x")]
fn bench() {
    let names: Vec<String> = (0..10).map(|n| format!("p{n}")).collect();
    let w = Workspace::with(&names.iter().map(String::as_str).collect::<Vec<_>>());
    for n in &names {
        let r = w.repo(&format!("src/{n}"));
        for i in 0..20 {
            r.write(&format!("src/main/java/com/acme/foo{}/C{i}.java", i % 3), "class X {}");
            r.write(&format!("src/test/java/com/acme/foo{}/C{i}Test.java", i % 3), "class X {}");
        }
        r.write("target/x.class", "x");
        r.commit("x");
    }
    let mut rs = w.discover();
    let t = std::time::Instant::now();
    rs.snapshot().unwrap();
    eprintln!("first {:?}", t.elapsed());
    std::thread::sleep(std::time::Duration::from_millis(200));
    rs.snapshot().unwrap();
    let t = std::time::Instant::now();
    for _ in 0..100 {
        rs.snapshot().unwrap();
    }
    eprintln!("each {:?}", t.elapsed() / 100);
    let before = rs.snapshot().unwrap();
    let t = std::time::Instant::now();
    for _ in 0..20 {
        super::observe(&mut rs, &before);
    }
    eprintln!("observe {:?}", t.elapsed() / 20);
}
