use super::{enabled_tests, lost_members};
use proptest::prelude::*;

fn count(source: &str) -> u64 {
    enabled_tests(source.as_bytes())
}

#[test]
fn each_annotation_counts_plain_and_fully_qualified() {
    let source = r#"
        package a;
        class FooTest {
            @Test void a() {}
            @org.junit.jupiter.api.Test public void b() throws IOException, Other { x(); }
            @ParameterizedTest(name = "{0} )") @CsvSource({"a,b", "c,d"}) void c(@Foo(1) int x) {}
            @RepeatedTest(3) void d() {}
            @TestFactory Stream<DynamicTest> e() { return null; }
            @TestTemplate void f() {}
            @Test(expected = IllegalStateException.class) public void g() {}
            @BeforeEach void no() {}
            void helper() { Runnable r = new Runnable() { @Test public void run() {} }; }
            private final Object o = new Object() { @Test public void no() {} };
        }"#;
    assert_eq!(count(source), 7);
}

#[test]
fn what_is_switched_off_does_not_count() {
    let source = r#"
        class A {
            @Disabled @Test void a() {}
            @Test @Disabled("why") void b() {}
            @Ignore @Test void c() {}
            @Test(enabled = false) void d() {}
            @Test(enabled = true) void e() {}
            @DisabledIf("x") @Test void f() {}
            @Nested class B { @Test void g() {} }
            @Nested @Disabled class C { @Test void h() {} class D { @Test void i() {} } }
        }
        @org.junit.Ignore class E { @Test void j() {} }"#;
    assert_eq!(count(source), 3);
}

#[test]
fn comments_strings_text_blocks_and_characters_are_skipped() {
    let source = r#"
        class A {
            // @Test void a() {}
            /* @Test void b() {} */
            String s = "@Test void c() {} \" {";
            String t = """
                @Test void d() {}  \""" {
                """;
            char c = '{', q = '\'';
            @Test void e() { char x = '"'; String y = "}"; }
            @Test void f() {}
        }"#;
    assert_eq!(count(source), 2);
}

#[test]
fn a_comment_opened_by_unicode_escapes_is_a_comment() {
    assert_eq!(
        count("class A { \\u002f\\u002a @Test void a() {} */ @Test void b() {} }"),
        1
    );
    assert_eq!(
        count(r#"class A { String s = "\\u0022"; @Test void b() {} }"#),
        1
    );
}

#[test]
fn junit_3_methods_count_by_name_in_a_test_case() {
    let source = r"
        public class A extends junit.framework.TestCase implements B {
            public void testA() {}
            void testB() {}
            public int testC() { return 1; }
            public void testD(int x) {}
            public void helper() {}
            @Ignore public void testE() {}
        }";
    assert_eq!(count(source), 1);
    assert_eq!(count("public class A { public void testA() {} }"), 0);
    assert_eq!(
        count("class A<T extends TestCase> { public void testA() {} }"),
        0
    );
}

#[test]
fn records_enums_interfaces_and_annotation_types_do_not_confuse() {
    let source = r#"
        @interface Fast { String value() default "{"; Class<?>[] of() default {}; }
        record R(int a) { R { check(); } @Test void a() {} }
        enum E { A { void x() {} }, B(1) { void y() {} }, C; @Test void b() {} }
        interface I { @Test default void c() {} @Test void notImplemented(); }
        sealed interface S permits T {}
        class U { Map<String, List<int[]>> m = new HashMap<>() {{ put("a", null); }}; static { go(); } @Test void d() {} }
    "#;
    assert_eq!(count(source), 4);
}

#[test]
fn a_method_called_record_is_a_method() {
    assert_eq!(
        count("class A { @Test void record() { go(); } @Test void b() {} }"),
        2
    );
    let [before, after] =
        ["a(); b();", "b(); a();"].map(|body| format!("class A {{ void record() {{ {body} }} }}"));
    assert!(lost_members(None, before.as_bytes(), Some(after.as_bytes())).is_some());
}

#[test]
fn braces_in_an_annotation_do_not_part_it_from_its_method() {
    let [before, after] = ["6, 7", "6, 8"].map(|rows| {
        format!(
            "class A {{ @ParameterizedTest @ValueSource(ints = {{{rows}}}) void sums(int a) {{ ok(a); }} }}"
        )
    });
    assert_eq!(count(&before), 1);
    assert_eq!(
        lost_members(
            Some(before.as_bytes()),
            before.as_bytes(),
            Some(after.as_bytes())
        ),
        None
    );
    let after = before.replace("ok(a)", "ok(1)");
    assert_eq!(
        lost_members(
            Some(before.as_bytes()),
            before.as_bytes(),
            Some(after.as_bytes())
        ),
        None
    );
    assert_eq!(
        count("@Tag({\"a\"}) @Disabled class A { @Test void a() {} }"),
        0
    );
    assert_eq!(count("record R(@A({1}) int a) { @Test void a() {} }"), 1);
}

#[test]
fn types_in_types_take_linear_time() {
    let deep = "class A {".repeat(20_000) + "@Test void a() {}";
    assert_eq!(count(&deep), 1);
}

proptest! {
    #[test]
    fn a_source_has_at_most_as_many_tests_as_annotations(
        source in proptest::collection::vec(proptest::sample::select(
            vec!["@Test", "void a()", "{", "}", "(", ")", "class A", ";", "\"", "\"\"\"", "'", "/*", "*/", "//", "\n", "\\", "=", "@", ".", "\\u002a", "\u{e4}"]), 0..60)
    ) {
        let text = source.join(" ");
        prop_assert!(count(&text) <= text.matches('@').count() as u64, "a test needs an annotation: {text}");
    }

    #[test]
    fn no_bytes_stop_it(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        enabled_tests(&bytes);
    }
}

#[test]
fn a_type_is_one_whatever_its_annotations_say() {
    for annotation in [
        "@SpringBootTest(classes = App.class)",
        "@A(b = @C(d = {1, 2}), e = \"=\")",
        "@A(x = 1 == 2)",
    ] {
        let source = format!("{annotation} class A {{ @Test void a() {{}} @Test void b() {{}} }}");
        assert_eq!(count(&source), 2, "{annotation}");
        let more = source.replace("class A {", "class A { @Test void more() {}");
        assert_eq!(
            lost_members(None, source.as_bytes(), Some(more.as_bytes())),
            None,
            "{annotation}"
        );
        let less = source.replace("@Test void b", "void b");
        assert!(
            lost_members(None, source.as_bytes(), Some(less.as_bytes())).is_some(),
            "{annotation}"
        );
    }
    assert_eq!(
        count(
            "class A { Class<?> c = B.class; Object o = new Object() { class X {} }; @Test void a() {} }"
        ),
        1
    );
}

#[test]
fn a_test_that_ends_before_it_checks_does_not_count() {
    for body in [
        "if (true) return; ok();",
        "if (false) { ok(); }",
        "assumeTrue(false); ok();",
    ] {
        assert_eq!(
            count(&format!("class A {{ @Test void a() {{ {body} }} }}")),
            0,
            "{body}"
        );
    }
    assert_eq!(
        count("class A { @Test void a() { if (os()) return; assumeTrue(os()); ok(); } }"),
        1
    );
}
