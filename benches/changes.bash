# Changes between a map of who touches what and the gate that uses it. Sourced by tiers.sh.
#
# A package `bystander` is added to a project: a class that is judged, production classes and tests. At the map's commit
# `MovedTest` alone executes the judged class, and only its first method; after each change another test is the only one that
# kills the mutants of a method. Where all changes are made at once, each has a copy of the package, `$package`.
# shellcheck shell=bash

changes=(new-caller moved-call by-reflection in-a-fixture fixture-by-name in-a-resource in-a-production-resource
    new-test changed-test in-a-constant in-an-initialiser in-a-superclass in-a-default-method in-a-service nested-class
    by-a-chain in-a-lambda in-a-test-superclass)

package=bystander

# A class of the bystanders. Its code is read from standard input; PROBE tells mutants of the judged class.
bystander() {   # main|test, name
    local code
    code=$(cat)
    code=${code//PROBE/Judged.late(2, 3) == 11}
    mkdir -p "$side/src/$1/java/$package"
    printf 'package %s;\n\n%s\n' "$package" "${code//bystander/$package}" >"$side/src/$1/java/$package/$2.java"
}

a_test() {   # name, expression that is to be true
    bystander test "$1" <<<"class $1 {
    @org.junit.jupiter.api.Test void holds() throws Exception { org.junit.jupiter.api.Assertions.assertTrue($2); }
}"
}

says() {   # main|test, class, expression
    bystander "$1" "$2" <<<"public class $2 { public static boolean holds() throws Exception { return $3; } }"
}

resource() {   # main|test, name, text
    local file=$side/src/$1/resources/${2//bystander/$package}
    mkdir -p "${file%/*}"
    echo "${3//bystander/$package}" >"$file"
}

# What stands at the map's commit.
add_bystanders() {
    bystander main Judged <<<'public class Judged {
    public static int early(int a, int b) { return a > b ? a - b : b * 2 - a; }
    public static int late(int a, int b) { return a > b ? a - b : b * 3 + a; }
}'
    a_test JudgedTest true
    says main Caller true; a_test CallerTest 'Caller.holds()'
    says main Before 'Judged.early(2, 3) == 4'; a_test MovedTest 'Before.holds()'
    says main After true; a_test AfterTest 'After.holds()'
    says main Probe PROBE
    says main Reflects true; a_test ReflectsTest 'Reflects.holds()'
    says test Fixture true; a_test FixtureTest 'Fixture.holds()'
    says test Named true; a_test NamedTest '(boolean) Class.forName("bystander.Named").getMethod("holds").invoke(null)'
    local read='(boolean) Class.forName(new java.util.Scanner(Nothing.class.getResourceAsStream("/bystander/NAME")).next()).getMethod("holds").invoke(null)'
    says main Nothing true
    resource test bystander/test.txt bystander.Nothing; a_test TestResourceTest "${read/NAME/test.txt}"
    resource main bystander/main.txt bystander.Nothing; a_test MainResourceTest "${read/NAME/main.txt}"
    a_test ChangedTest true
    bystander main Limits <<<'public class Limits { public static final boolean ON = false; }'
    says main Limited '!Limits.ON || PROBE'; a_test LimitedTest 'Limited.holds()'
    bystander main Single <<<'public class Single { static final boolean SEEN = true; public static boolean holds() { return SEEN; } }'
    a_test SingleTest 'Single.holds()'
    bystander main Parent <<<'public class Parent { public boolean holds() { return true; } }'
    bystander main OtherParent <<<'public class OtherParent { public boolean holds() { return PROBE; } }'
    bystander main Child <<<'public class Child extends Parent { }'; a_test ChildTest 'new Child().holds()'
    bystander main Ruled <<<'public interface Ruled { boolean holds(); }'
    bystander main RuledParent <<<'public class RuledParent { public boolean holds() { return true; } }'
    bystander main Ruler <<<'public class Ruler extends RuledParent implements Ruled { }'; a_test RulerTest '((Ruled) new Ruler()).holds()'
    bystander main Plain <<<'public class Plain implements Ruled { public boolean holds() { return true; } }'
    bystander main Probing <<<'public class Probing implements Ruled { public boolean holds() { return PROBE; } }'
    resource test META-INF/services/bystander.Ruled bystander.Plain
    a_test ServiceTest 'java.util.ServiceLoader.load(Ruled.class).iterator().next().holds()'
    bystander main Nests <<<'public class Nests { public static boolean holds() { return In.holds(); } static class In { static boolean holds() { return true; } } }'
    a_test NestsTest 'Nests.holds()'
    says main Last true; says main Next 'Last.holds()'; says main First 'Next.holds()'; a_test FirstTest 'First.holds()'
    says main Lambda 'java.util.stream.Stream.of(1).allMatch(one -> true)'; a_test LambdaTest 'Lambda.holds()'
    says test TestBase true
    bystander test HeirTest <<<'class HeirTest extends TestBase {
    @org.junit.jupiter.api.Test void inherits() throws Exception { org.junit.jupiter.api.Assertions.assertTrue(holds()); }
}'
}

change() {   # name
    case $1 in
    new-caller) says main Caller PROBE ;;
    moved-call) says main Before true; says main After 'Judged.early(2, 3) == 4' ;;
    by-reflection) says main Reflects '(boolean) Class.forName("bystander.Probe").getMethod("holds").invoke(null)' ;;
    in-a-fixture) says test Fixture PROBE ;;
    fixture-by-name) says test Named PROBE ;;
    in-a-resource) resource test bystander/test.txt bystander.Probe ;;
    in-a-production-resource) resource main bystander/main.txt bystander.Probe ;;
    new-test) a_test NewTest PROBE ;;
    changed-test) a_test ChangedTest PROBE ;;
    in-a-constant) bystander main Limits <<<'public class Limits { public static final boolean ON = true; }' ;;
    in-an-initialiser) bystander main Single <<<'public class Single { static final boolean SEEN = PROBE; public static boolean holds() { return SEEN; } }' ;;
    in-a-superclass) bystander main Child <<<'public class Child extends OtherParent { }' ;;
    in-a-default-method)
        bystander main Ruled <<<'public interface Ruled { default boolean holds() { return PROBE; } }'
        bystander main Ruler <<<'public class Ruler implements Ruled { }' ;;
    in-a-service) resource test META-INF/services/bystander.Ruled bystander.Probing ;;
    nested-class) bystander main Nests <<<'public class Nests { public static boolean holds() { return In.holds(); } static class In { static boolean holds() { return PROBE; } } }' ;;
    by-a-chain) says main Last PROBE ;;
    in-a-lambda) says main Lambda 'java.util.stream.Stream.of(1).allMatch(one -> PROBE)' ;;
    in-a-test-superclass) says test TestBase PROBE ;;
    esac
}
