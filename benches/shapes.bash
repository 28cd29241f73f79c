# The shapes of benches/shapes.sh: a table of names and traits, and what each trait is. Sourced.
#
# A shape is a Maven project with one class that is judged, and a test that kills all its mutants. A trait adds to the
# POM (`head`, `properties`, `dependencies`, `plugins`, `surefire`, `compiler`), writes files (`put`), or says how the
# class (`code`) and its test are written. All tests assert through one method, `same`; in the weak version it does
# nothing. So that difference alone decides the verdict, whatever else a project has.
# shellcheck shell=bash disable=SC2034,SC2016

# name: traits. A star marks the commonest ones (`--common`). A plus marks those that are to have no mutants (SKIP).
shapes='
*junit5: junit5
*junit4: junit4
*junit6: junit6
junit5-old: junit5 version_5.6.3
junit5-new: junit5 version_5.13.4
testng: testng
vintage: vintage
junit4-and-5: junit5 junit4_beside
assertj: junit5 assertj
hamcrest: junit4 hamcrest
*nested-and-parameterised: junit5 nested parameterised
method-source: junit5 method_source
csv-source: junit5 csv_source
test-factory: junit5 factory
repeated: junit5 repeated
per-class: junit5 per_class
inherited: junit5 inherited
interface-test: junit5 interface_test
parallel: junit5 parallel
temp-dir: junit5 temp_dir
extension: junit5 extension
before-all: junit5 before_all
junit4-parameterized: junit4 parameterized4
junit4-rule: junit4 rule4
junit4-enclosed: junit4 enclosed4
name-tests: junit5 named_PriceTests
name-first: junit5 named_TestPrice
name-case: junit5 named_PriceTestCase
package-private: junit5 package_private
groups: junit5 groups
excludes: junit5 excludes
failsafe: junit5 failsafe
*mockito-agent: junit5 mockito mockito_agent
mockito: junit5 mockito
mockito4-inline: junit4 mockito_inline
*jacoco: junit5 jacoco
*jacoco-argline: junit5 jacoco argline
jacoco-junit4: junit4 jacoco
jacoco-property: junit5 jacoco jacoco_property
jacoco-mockito: junit5 jacoco mockito mockito_agent argline
jacoco-offline: junit5 jacoco_offline
argline-memory: junit5 argline_memory
no-fork: junit5 no_fork
forks: junit5 forks
properties: junit5 surefire_properties
skipped-tests: junit5 skipped
release-8: junit4 release_8
source-target: junit5 source_target
werror: junit5 werror
parameters: junit5 parameters
forked-compiler: junit5 forked_compiler
no-debug-vars: junit5 debug_lines
*lombok: junit5 lombok
+lombok-data: junit5 lombok lombok_data
immutables: junit5 immutables
autovalue: junit5 autovalue
mapstruct: junit5 mapstruct
*generated-sources: junit5 generated
templates: junit5 templates
*filtered-resources: junit5 filtered
test-resources: junit5 test_resources
*enforcer-and-checkstyle: junit5 enforcer checkstyle
flatten: junit5 flatten
build-helper: junit5 build_helper
profile: junit5 profile
bom: junit5 bom
parent-inside: junit5 parent_inside
*spring-boot: spring_boot
*reactor: junit5 reactor
reactor-deep: junit5 reactor reactor_test_jar
*jpms: junit5 jpms
jpms-filtered: junit5 jpms filtered
jpms-packages: junit5 jpms jpms_requires
*kotlin-mixed: junit5 kotlin
kotlin-test: junit5 kotlin kotlin_test
spock: spock
maven-config: junit5 maven_config
jvm-config: junit5 jvm_config
wrapper: junit5 wrapper
git-commit-id: junit5 git_commit_id
multi-release: junit5 multi_release
crlf: junit5 crlf
record: junit5 record
enum: junit5 enum
interface-default: junit5 interface_default
abstract: junit5 abstract_class
sealed: junit5 sealed
inner: junit5 inner
lambdas: junit5 lambdas
generics: junit5 generics
switch: junit5 switch
text-block: junit5 text_block
private-constructor: junit5 utility
second-class: junit5 second_class
unicode: junit5 unicode
spaces: junit5 spaces
reactor-threads: junit5 reactor maven_threads
war: junit5 war
bundle: junit5 bundle
output-folder: junit5 output_folder
preview: junit5 preview
tag-expression: junit5 tag_expression
testng-groups: testng testng_groups
two-executions: junit5 two_executions
argline-quotes: junit5 argline_quotes
scan-dependencies: junit5 reactor scan_dependencies
junit4-parallel: junit4 parallel4
failing-elsewhere: junit5 failing_elsewhere
junit4-suite: junit4 suite4
platform-suite: junit5 platform_suite
jqwik: junit5 jqwik
surefire-jvm: junit5 surefire_jvm
random-order: junit5 random_order
system-scope: junit5 system_scope
aspectj: junit5 aspectj
error-prone: junit5 error_prone
cucumber: junit5 cucumber
crowded: junit5 nested parameterised lombok generated enforcer checkstyle
archunit: junit5 archunit
'

dependency() {   # group:artifact:version[:scope[:type]]
    local group artifact version scope type
    IFS=: read -r group artifact version scope type <<<"$1"
    dependencies+="<dependency><groupId>$group</groupId><artifactId>$artifact</artifactId>${version:+<version>$version</version>}"
    dependencies+="${scope:+<scope>$scope</scope>}${type:+<type>$type</type>}</dependency>"
}

# goal, phase and configuration make one execution; without a goal the configuration is the plugin's.
plugin() {   # group:artifact:version, goal, phase, configuration
    local group artifact version
    IFS=: read -r group artifact version <<<"$1"
    plugins+="<plugin><groupId>$group</groupId><artifactId>$artifact</artifactId><version>$version</version>"
    if [[ -n ${2:-} ]]; then
        plugins+="<executions><execution><id>$2</id>${3:+<phase>$3</phase>}<goals><goal>$2</goal></goals>"
        plugins+="${4:+<configuration>$4</configuration>}</execution></executions></plugin>"
    else
        plugins+="${4:+<configuration>$4</configuration>}</plugin>"
    fi
}

# ------------------------------------------------------------------------------------------------ test frameworks
junit5() {
    jupiter=${jupiter:-5.10.2}
    dependency "org.junit.jupiter:junit-jupiter:$jupiter:test"
    imports='import org.junit.jupiter.api.*;'
    same='Assertions.assertEquals(a, b);'
}
junit6() { jupiter=6.0.1; junit5; }
junit4() {
    dependency junit:junit:4.13.2:test
    imports='import org.junit.*;'
    same='Assert.assertEquals(a, b);'
}
testng() {
    dependency org.testng:testng:7.10.2:test
    imports='import org.testng.annotations.*;'
    same='org.testng.Assert.assertEquals(b, a);'
}
vintage() { junit4; dependency org.junit.vintage:junit-vintage-engine:5.10.2:test; }
version() { dependencies=${dependencies//5.10.2/$1}; }
junit4_beside() {
    vintage
    imports='import org.junit.jupiter.api.*;'
    same='Assertions.assertEquals(a, b);'
    put src/test/java/com/acme/OldTest.java 'package com.acme; public class OldTest { @org.junit.Test public void old() { new Price(1).plus(1); } }'
}
assertj() { dependency org.assertj:assertj-core:3.26.3:test; same='org.assertj.core.api.Assertions.assertThat(b).isEqualTo(a);'; }
hamcrest() { dependency org.hamcrest:hamcrest:2.2:test; same='org.hamcrest.MatcherAssert.assertThat(b, org.hamcrest.CoreMatchers.is(a));'; }
spock() {
    dependency org.spockframework:spock-core:2.3-groovy-4.0:test
    plugin org.codehaus.gmavenplus:gmavenplus-plugin:3.0.2 compileTests
    test_file=src/test/groovy/com/acme/PriceSpec.groovy
    test_text='package com.acme
class PriceSpec extends spock.lang.Specification {
    def "prices"() { when: def p = new Price(2); then: same(5, p.plus(3)); same(false, new Price(1000).isHigh()); same(true, new Price(1001).isHigh()) }
    static boolean same(Object a, Object b) { @SAME@ true }
}'
    same='assert a == b;'
}
kotlin_test() {
    test_file=src/test/kotlin/com/acme/PriceTest.kt
    test_text='package com.acme
import org.junit.jupiter.api.*
class PriceTest {
    @Test fun prices() { same(5, Price(2).plus(3)); same(false, Price(1000).isHigh()); same(true, Price(1001).isHigh()) }
    private fun same(a: Any, b: Any) { @SAME@ }
}'
    same='Assertions.assertEquals(a, b)'
}

# ------------------------------------------------------------------------------------------------- forms of tests
nested() { members+='@Nested class Within { @Test void high() { same(true, new Price(1001).isHigh()); } }'; calls='same(5, new Price(2).plus(3)); same(false, new Price(1000).isHigh());'; }
parameterised() {
    members+='@org.junit.jupiter.params.ParameterizedTest @org.junit.jupiter.params.provider.ValueSource(ints = {3, 4})
        void adds(int other) { same(2 + other, new Price(2).plus(other)); }'
    calls='same(false, new Price(1000).isHigh());'
}
method_source() {
    members+='static java.util.stream.Stream<Integer> others() { return java.util.stream.Stream.of(3, 4); }
        @org.junit.jupiter.params.ParameterizedTest @org.junit.jupiter.params.provider.MethodSource("others")
        void adds(int other) { same(2 + other, new Price(2).plus(other)); }'
    calls='same(false, new Price(1000).isHigh()); same(true, new Price(1001).isHigh());'
}
csv_source() {
    members+='@org.junit.jupiter.params.ParameterizedTest @org.junit.jupiter.params.provider.CsvSource({"1000,false", "1001,true"})
        void high(int cents, boolean high) { same(high, new Price(cents).isHigh()); }'
    calls='same(5, new Price(2).plus(3));'
}
factory() {
    members+='@TestFactory java.util.List<DynamicTest> high() { return java.util.List.of(
        DynamicTest.dynamicTest("low", () -> same(false, new Price(1000).isHigh())), DynamicTest.dynamicTest("high", () -> same(true, new Price(1001).isHigh()))); }'
    calls='same(5, new Price(2).plus(3));'
}
repeated() { members+='@RepeatedTest(3) void again() { same(true, new Price(1001).isHigh()); }'; calls='same(5, new Price(2).plus(3)); same(false, new Price(1000).isHigh());'; }
per_class() { annotations='@TestInstance(TestInstance.Lifecycle.PER_CLASS)'; members+='int before; @BeforeAll void all() { before = 1; }'; }
inherited() {
    extends='extends Base'
    put src/test/java/com/acme/Base.java 'package com.acme; abstract class Base { @org.junit.jupiter.api.Test void high() { check(true, new Price(1001).isHigh()); } abstract void check(Object a, Object b); }'
    members+='void check(Object a, Object b) { same(a, b); }'
    calls='same(5, new Price(2).plus(3)); same(false, new Price(1000).isHigh());'
}
interface_test() {
    extends='implements Adds'
    put src/test/java/com/acme/Adds.java 'package com.acme; interface Adds { @org.junit.jupiter.api.Test default void adds() { check(5, new Price(2).plus(3)); } void check(Object a, Object b); }'
    members+='public void check(Object a, Object b) { same(a, b); }'
    calls='same(false, new Price(1000).isHigh()); same(true, new Price(1001).isHigh());'
}
parallel() { put src/test/resources/junit-platform.properties $'junit.jupiter.execution.parallel.enabled=true\njunit.jupiter.execution.parallel.mode.default=concurrent'; members+='@Test void more() { same(5, new Price(2).plus(3)); }'; }
temp_dir() { members+='@org.junit.jupiter.api.io.TempDir java.nio.file.Path folder; @Test void writes() throws Exception { same(7, Integer.parseInt(java.nio.file.Files.readString(java.nio.file.Files.writeString(folder.resolve("a"), "" + new Price(3).plus(4))))); }'; }
extension() {
    annotations='@org.junit.jupiter.api.extension.ExtendWith(PriceTest.Given.class)'
    members+='static class Given implements org.junit.jupiter.api.extension.ParameterResolver {
        public boolean supportsParameter(org.junit.jupiter.api.extension.ParameterContext p, org.junit.jupiter.api.extension.ExtensionContext e) { return true; }
        public Object resolveParameter(org.junit.jupiter.api.extension.ParameterContext p, org.junit.jupiter.api.extension.ExtensionContext e) { return new Price(2); } }
        @Test void given(Price price) { same(5, price.plus(3)); }'
}
before_all() { members+='static Price price; @BeforeAll static void make() { price = new Price(2); } @Test void adds() { same(5, price.plus(3)); }'; calls='same(false, new Price(1000).isHigh()); same(true, new Price(1001).isHigh());'; }
parameterized4() {
    annotations='@org.junit.runner.RunWith(org.junit.runners.Parameterized.class)'
    members+='@org.junit.runners.Parameterized.Parameters public static Object[] data() { return new Object[] {3, 4}; }
        final int other; public PriceTest(int other) { this.other = other; } @Test public void adds() { same(2 + other, new Price(2).plus(other)); }'
}
rule4() { members+='@Rule public org.junit.rules.TemporaryFolder folder = new org.junit.rules.TemporaryFolder(); @Test public void writes() throws Exception { folder.newFile(); same(5, new Price(2).plus(3)); }'; }
enclosed4() {
    annotations='@org.junit.runner.RunWith(org.junit.experimental.runners.Enclosed.class)'
    members+='public static class High { @Test public void high() { same(true, new Price(1001).isHigh()); same(false, new Price(1000).isHigh()); same(5, new Price(2).plus(3)); } }'
    calls=''
}
named() { test=$1; }
package_private() { modifier=''; members+='@Test void more() { same(5, new Price(2).plus(3)); }'; }
groups() { surefire+='<excludedGroups>slow</excludedGroups>'; members+='@Test @Tag("slow") void slow() { Assertions.fail(); }'; }
tag_expression() { surefire+='<groups>fast &amp; !db</groups>'; annotations='@Tag("fast")'; members+='@Test @Tag("db") void db() { Assertions.fail(); }'; }
testng_groups() { surefire+='<excludedGroups>slow</excludedGroups>'; members+='@Test(groups = "slow") public void slow() { org.testng.Assert.fail(); }'; }
two_executions() {
    more_surefire='<executions><execution><id>default-test</id><configuration><skip>true</skip></configuration></execution><execution><id>ours</id><phase>test</phase><goals><goal>test</goal></goals><configuration><systemPropertyVariables><cents>2</cents></systemPropertyVariables></configuration></execution></executions>'
    members+='@Test void given() { same(5, new Price(Integer.getInteger("cents")).plus(3)); }'
}
argline_quotes() { arguments+=' -Dwords="a b" -Dhome=${project.basedir} @{never} -Dcents=2'; members+='@Test void given() { same("a b", System.getProperty("words")); same(5, new Price(Integer.getInteger("cents")).plus(3)); }'; }
scan_dependencies() { surefire+='<dependenciesToScan><dependency>com.acme:base</dependency></dependenciesToScan>'; }
parallel4() { surefire+='<parallel>methods</parallel><threadCount>4</threadCount>'; members+='@Test public void more() { same(5, new Price(2).plus(3)); }'; }
failing_elsewhere() { put src/test/java/com/acme/RedTest.java 'package com.acme; class RedTest { @org.junit.jupiter.api.Test void red() { new Price(1).plus(1); org.junit.jupiter.api.Assertions.fail(); } }'; }
excludes() { surefire+='<excludes><exclude>**/SlowTest.java</exclude></excludes>'; put src/test/java/com/acme/SlowTest.java 'package com.acme; class SlowTest { @org.junit.jupiter.api.Test void red() { new Price(1).plus(1); org.junit.jupiter.api.Assertions.fail(); } }'; }
failsafe() {
    plugin org.apache.maven.plugins:maven-failsafe-plugin:3.2.5 integration-test
    put src/test/java/com/acme/PriceIT.java 'package com.acme; class PriceIT { @org.junit.jupiter.api.Test void needsAServer() { new Price(1).plus(1); org.junit.jupiter.api.Assertions.assertNotNull(System.getProperty("server")); } }'
}

suite4() { put src/test/java/com/acme/AllTests.java 'package com.acme; @org.junit.runner.RunWith(org.junit.runners.Suite.class) @org.junit.runners.Suite.SuiteClasses(PriceTest.class) public class AllTests { }'; }
platform_suite() {
    dependency org.junit.platform:junit-platform-suite:1.10.2:test
    put src/test/java/com/acme/AllTests.java 'package com.acme; @org.junit.platform.suite.api.Suite @org.junit.platform.suite.api.SelectClasses(PriceTest.class) class AllTests { }'
}
jqwik() {
    dependency net.jqwik:jqwik:1.8.5:test
    members+='@net.jqwik.api.Property void adds(@net.jqwik.api.ForAll int a, @net.jqwik.api.ForAll int b) { same(a + b, new Price(a).plus(b)); }'
    calls='same(false, new Price(1000).isHigh()); same(true, new Price(1001).isHigh());'
}
cucumber() {
    dependency io.cucumber:cucumber-java:7.18.0:test
    dependency io.cucumber:cucumber-junit-platform-engine:7.18.0:test
    dependency org.junit.platform:junit-platform-suite:1.10.2:test
    put src/test/resources/com/acme/price.feature $'Feature: prices\n  Scenario: sums\n    Then prices add up'
    annotations='@org.junit.platform.suite.api.Suite @org.junit.platform.suite.api.IncludeEngines("cucumber") @org.junit.platform.suite.api.SelectClasspathResource("com/acme")'
    test_text="package com.acme; $annotations class PriceTest { }"
    put src/test/java/com/acme/Steps.java "package com.acme; import org.junit.jupiter.api.*; public class Steps { @io.cucumber.java.en.Then(\"prices add up\") public void sums() { $calls }
    static void same(Object a, Object b) { $([[ $version == weak ]] || echo "$same") } }"
}
archunit() {
    dependency com.tngtech.archunit:archunit-junit5:1.3.0:test
    put src/test/java/com/acme/RulesTest.java 'package com.acme; @com.tngtech.archunit.junit.AnalyzeClasses(packages = "com.acme") class RulesTest { @com.tngtech.archunit.junit.ArchTest static final com.tngtech.archunit.lang.ArchRule RULE = com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses().should().dependOnClassesThat().resideInAPackage("sun.."); }'
}

# ------------------------------------------------------------------------------------------ agents and test JVMs
surefire_jvm() { surefire+='<jvm>${java.home}/bin/java</jvm>'; }
random_order() { surefire+='<runOrder>random</runOrder>'; }
mockito() {
    dependency org.mockito:mockito-core:5.14.2:test
    members+='@Test public void mocks() { java.util.List<?> all = org.mockito.Mockito.mock(java.util.List.class); org.mockito.Mockito.when(all.size()).thenReturn(3); same(5, new Price(2).plus(all.size())); }'
}
mockito_inline() {
    dependency org.mockito:mockito-core:4.11.0:test
    dependency org.mockito:mockito-inline:4.11.0:test
    members+='@Test public void mocks() { java.util.List<?> all = org.mockito.Mockito.mock(java.util.List.class); org.mockito.Mockito.when(all.size()).thenReturn(3); same(5, new Price(2).plus(all.size())); }'
}
mockito_agent() {
    plugin org.apache.maven.plugins:maven-dependency-plugin:3.7.0 properties
    arguments+=' -javaagent:${org.mockito:mockito-core:jar}'
}
jacoco() { plugin org.jacoco:jacoco-maven-plugin:0.8.12 prepare-agent; }
argline() { arguments="@{argLine}$arguments -Dgiven=yes"; properties+='<argLine/>'; }
jacoco_property() { plugins=''; plugin org.jacoco:jacoco-maven-plugin:0.8.12 prepare-agent '' '<propertyName>agent</propertyName>'; arguments+=' ${agent} -Xmx200m'; }
jacoco_offline() {
    ignored+=$'\njacoco.exec'
    dependency org.jacoco:org.jacoco.agent:0.8.12:test
    dependencies=${dependencies/<version>0.8.12<\/version>/<version>0.8.12<\/version><classifier>runtime<\/classifier>}
    plugin org.jacoco:jacoco-maven-plugin:0.8.12 instrument
}
argline_memory() { arguments+=' -Xmx300m -XX:+UseG1GC -ea -Dprice=2'; members+='@Test void given() { same(5, new Price(Integer.getInteger("price")).plus(3)); }'; }
no_fork() { surefire+='<forkCount>0</forkCount>'; }
forks() { surefire+='<forkCount>2C</forkCount><reuseForks>false</reuseForks>'; }
surefire_properties() {
    surefire+='<systemPropertyVariables><cents>2</cents></systemPropertyVariables><environmentVariables><OTHER>3</OTHER></environmentVariables>'
    members+='@Test void given() { same(5, new Price(Integer.getInteger("cents")).plus(Integer.parseInt(System.getenv("OTHER")))); }'
}
skipped() { properties+='<skipTests>true</skipTests><maven.test.skip>true</maven.test.skip>'; }

# ---------------------------------------------------------------------------------------------------- compilers
release_8() { release=8; }
source_target() { release=''; properties+='<maven.compiler.source>17</maven.compiler.source><maven.compiler.target>17</maven.compiler.target>'; }
werror() { compiler+='<compilerArgs><arg>-Xlint:all</arg><arg>-Werror</arg></compilerArgs>'; }
parameters() { compiler+='<parameters>true</parameters>'; }
forked_compiler() { compiler+='<fork>true</fork>'; }
debug_lines() { compiler+='<debuglevel>lines,source</debuglevel>'; }
lombok() {
    dependency org.projectlombok:lombok:1.18.34:provided
    put lombok.config $'config.stopBubbling = true\nlombok.addLombokGeneratedAnnotation = true'
    code='package com.acme;
@lombok.Getter @lombok.EqualsAndHashCode @lombok.RequiredArgsConstructor
public class Price { private final int cents; '"$methods"' }'
}
lombok_data() { code='package com.acme; @lombok.Data public class Price { private int cents; private String currency; }'; calls='Price p = new Price(); p.setCents(2); same(2, p.getCents());'; }
immutables() {
    dependency org.immutables:value:2.10.1:provided
    code='package com.acme;
@org.immutables.value.Value.Immutable public abstract class Price { abstract int cents();
public int plus(int other) { return cents() + other; } public boolean isHigh() { return cents() > 1000; } }'
    calls=${calls//new Price(/of(}
    members+='static Price of(int cents) { return ImmutablePrice.builder().cents(cents).build(); }'
}
autovalue() {
    dependency com.google.auto.value:auto-value-annotations:1.11.0
    dependency com.google.auto.value:auto-value:1.11.0:provided
    code='package com.acme;
@com.google.auto.value.AutoValue public abstract class Price { abstract int cents(); public static Price of(int cents) { return new AutoValue_Price(cents); }
public int plus(int other) { return cents() + other; } public boolean isHigh() { return cents() > 1000; } }'
    calls="${calls//new Price(/Price.of(} same(3, Price.of(3).cents());"
}
mapstruct() {
    dependency org.mapstruct:mapstruct:1.6.3
    dependency org.mapstruct:mapstruct-processor:1.6.3:provided
    put src/main/java/com/acme/PriceMapper.java 'package com.acme; @org.mapstruct.Mapper public interface PriceMapper { Text toText(Price price); class Text { public String high; } }'
}
generated() {
    plugin org.apache.maven.plugins:maven-antrun-plugin:3.1.0 run generate-sources '<target><mkdir dir="${project.build.directory}/generated-sources/made/com/acme"/><echo file="${project.build.directory}/generated-sources/made/com/acme/Limit.java">package com.acme; final class Limit { static int high() { return 1000; } }</echo></target>'
    plugin org.codehaus.mojo:build-helper-maven-plugin:3.6.1 add-source generate-sources '<sources><source>${project.build.directory}/generated-sources/made</source></sources>'
    code=${code/1000/Limit.high()}
}
templates() {
    plugin org.codehaus.mojo:templating-maven-plugin:3.0.0 filter-sources
    put src/main/java-templates/com/acme/Version.java 'package com.acme; final class Version { static final String TEXT = "${project.version}"; }'
}

preview() {
    compiler+='<compilerArgs><arg>--enable-preview</arg></compilerArgs>'
    arguments+=' --enable-preview'
    code='package com.acme; public class Price { private final int cents; public Price(int cents) { this.cents = cents; } '"$methods"'
    public static int of(Object o) { return switch (o) { case Integer i -> i + 1; default -> 7; }; } }'
    calls+=' same(3, Price.of(2)); same(7, Price.of("x"));'
}
error_prone() {
    compiler+='<compilerArgs><arg>-XDcompilePolicy=simple</arg><arg>-Xplugin:ErrorProne</arg></compilerArgs><annotationProcessorPaths><path><groupId>com.google.errorprone</groupId><artifactId>error_prone_core</artifactId><version>2.27.1</version></path></annotationProcessorPaths>'
    local part options=''
    for part in api code comp file main model parser processing tree util; do
        options+="--add-opens jdk.compiler/com.sun.tools.javac.$part=ALL-UNNAMED --add-exports jdk.compiler/com.sun.tools.javac.$part=ALL-UNNAMED "
    done
    put .mvn/jvm.config "$options"
}
aspectj() {
    dependency org.aspectj:aspectjrt:1.9.22
    plugin org.codehaus.mojo:aspectj-maven-plugin:1.15.0 compile '' '<complianceLevel>16</complianceLevel><source>16</source><target>16</target>'
    plugins=${plugins/1.15.0<\/version>/1.15.0<\/version><dependencies><dependency><groupId>org.aspectj<\/groupId><artifactId>aspectjtools<\/artifactId><version>1.9.22<\/version><\/dependency><\/dependencies>}
    release=16
    put src/main/java/com/acme/Log.aj 'package com.acme; aspect Log { before(): execution(int Price.plus(int)) { System.out.println("plus"); } }'
}

# -------------------------------------------------------------------------------------------- resources and checks
filtered() {
    resources='<resources><resource><directory>src/main/resources</directory><filtering>true</filtering></resource></resources>'
    put src/main/resources/price.properties 'high=${price.high}'
    properties+='<price.high>1000</price.high>'
    code='package com.acme;
public class Price { private final int cents; private final java.util.Properties given = new java.util.Properties();
public Price(int cents) { this.cents = cents; try (java.io.InputStream in = Price.class.getResourceAsStream("/price.properties")) { given.load(in); } catch (java.io.IOException e) { throw new java.io.UncheckedIOException(e); } }
public int plus(int other) { return cents + other; } public boolean isHigh() { return cents > Integer.parseInt(given.getProperty("high")); } }'
}
test_resources() { put src/test/resources/cents.txt 2; members+='@Test void reads() throws Exception { try (java.io.InputStream in = PriceTest.class.getResourceAsStream("/cents.txt")) { same(5, new Price(Integer.parseInt(new String(in.readAllBytes()).trim())).plus(3)); } }'; }
enforcer() { plugin org.apache.maven.plugins:maven-enforcer-plugin:3.5.0 enforce validate '<rules><requireJavaVersion><version>17</version></requireJavaVersion><dependencyConvergence/><banDuplicatePomDependencyVersions/></rules>'; }
checkstyle() {
    plugin org.apache.maven.plugins:maven-checkstyle-plugin:3.6.0 check validate '<configLocation>checks.xml</configLocation><includeTestSourceDirectory>true</includeTestSourceDirectory>'
    put checks.xml '<?xml version="1.0"?><!DOCTYPE module PUBLIC "-//Checkstyle//DTD Checkstyle Configuration 1.3//EN" "https://checkstyle.org/dtds/configuration_1_3.dtd"><module name="Checker"><module name="FileTabCharacter"/><module name="TreeWalker"><module name="AvoidNestedBlocks"/></module></module>'
}
flatten() { ignored+=$'\n.flattened-pom.xml'; plugin org.codehaus.mojo:flatten-maven-plugin:1.6.0 flatten process-resources; }
build_helper() {
    plugin org.codehaus.mojo:build-helper-maven-plugin:3.6.1 add-test-source generate-test-sources '<sources><source>src/testFixtures/java</source></sources>'
    put src/testFixtures/java/com/acme/Prices.java 'package com.acme; public class Prices { public static Price two() { return new Price(2); } }'
    members+='@Test void fixture() { same(5, Prices.two().plus(3)); }'
}
profile() { head+='<profiles><profile><id>on</id><activation><activeByDefault>true</activeByDefault></activation><dependencies>'"$dependencies"'</dependencies></profile></profiles>'; dependencies=''; }
bom() { head+='<dependencyManagement><dependencies><dependency><groupId>org.junit</groupId><artifactId>junit-bom</artifactId><version>5.10.2</version><type>pom</type><scope>import</scope></dependency></dependencies></dependencyManagement>'; dependencies=${dependencies//<version>5.10.2<\/version>/}; }
git_commit_id() { plugin io.github.git-commit-id:git-commit-id-maven-plugin:9.0.1 revision '' '<generateGitPropertiesFile>true</generateGitPropertiesFile>'; }
multi_release() {
    plugins+='<plugin><artifactId>maven-jar-plugin</artifactId><version>3.4.2</version><configuration><archive><manifestEntries><Multi-Release>true</Multi-Release></manifestEntries></archive></configuration></plugin>'
    more_executions='<executions><execution><id>newer</id><phase>compile</phase><goals><goal>compile</goal></goals><configuration><release>17</release><compileSourceRoots><compileSourceRoot>${project.basedir}/src/main/java17</compileSourceRoot></compileSourceRoots><multiReleaseOutput>true</multiReleaseOutput></configuration></execution></executions>'
    put src/main/java17/com/acme/Newer.java 'package com.acme; class Newer { }'
    release=11
}
maven_config() { put .mvn/maven.config $'-Dnothing=1\n--no-transfer-progress'; }
jvm_config() { put .mvn/jvm.config '-Xmx512m -XX:+UseG1GC'; }
wrapper() { put mvnw $'#!/bin/sh\nexec mvn "$@"'; chmod +x "$folder/mvnw"; }
crlf() { code=${code//$'\n'/$'\r\n'}; }
spaces() { folder_name='a shape'; }

maven_threads() { put .mvn/maven.config '-T2'; }
output_folder() { resources+='<directory>build</directory>'; ignored=build/; }
system_scope() {
    put lib/thing.jar ''
    (cd "$folder/lib" && rm thing.jar && mkdir t && printf 'package t; public class Two { public static int two() { return 2; } }' >t/Two.java && javac --release 8 -nowarn t/Two.java 2>/dev/null && jar cf thing.jar t/Two.class && rm -r t)
    dependencies+='<dependency><groupId>t</groupId><artifactId>thing</artifactId><version>1</version><scope>system</scope><systemPath>${project.basedir}/lib/thing.jar</systemPath></dependency>'
    members+='@Test void two() { same(5, new Price(t.Two.two()).plus(3)); }'
}

# ------------------------------------------------------------------------------------------- parents and modules
war() { head+='<packaging>war</packaging>'; }
bundle() { head+='<packaging>bundle</packaging>'; plugins+='<plugin><groupId>org.apache.felix</groupId><artifactId>maven-bundle-plugin</artifactId><version>5.1.9</version><extensions>true</extensions></plugin>'; }
parent_inside() {
    put parent/pom.xml '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>com.acme</groupId><artifactId>the-parent</artifactId><version>1</version><packaging>pom</packaging><properties><project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties></project>'
    parent='<parent><groupId>com.acme</groupId><artifactId>the-parent</artifactId><version>1</version><relativePath>parent/pom.xml</relativePath></parent>'
}
spring_boot() {
    parent='<parent><groupId>org.springframework.boot</groupId><artifactId>spring-boot-starter-parent</artifactId><version>3.3.5</version><relativePath/></parent>'
    pinned=''
    dependency org.springframework.boot:spring-boot-starter
    dependency org.springframework.boot:spring-boot-starter-test::test
    plugins+='<plugin><groupId>org.springframework.boot</groupId><artifactId>spring-boot-maven-plugin</artifactId></plugin>'
    imports='import org.junit.jupiter.api.*;'
    same='Assertions.assertEquals(a, b);'
    put src/main/java/com/acme/App.java 'package com.acme; @org.springframework.boot.autoconfigure.SpringBootApplication public class App { public static void main(String[] args) { org.springframework.boot.SpringApplication.run(App.class, args); } @org.springframework.context.annotation.Bean java.time.Clock clock() { return java.time.Clock.systemUTC(); } }'
    annotations='@org.springframework.boot.test.context.SpringBootTest'
    members+='@org.springframework.beans.factory.annotation.Autowired java.time.Clock clock; @Test void wired() { Assertions.assertNotNull(clock); }'
}
reactor() {
    module=core
    put base/pom.xml "$(module_pom base)"
    put base/src/main/java/com/acme/base/Limit.java 'package com.acme.base; public class Limit { public static int high() { return 1000; } }'
    modules='<module>base</module><module>core</module>'
    dependency com.acme:base:1
    code=${code/1000/com.acme.base.Limit.high()}
}
reactor_test_jar() {
    modules='<module>base</module><module>helpers</module><module>core</module>'
    put helpers/pom.xml "$(module_pom helpers)"
    put helpers/src/main/java/com/acme/help/Numbers.java 'package com.acme.help; public class Numbers { public static int two() { return 2; } }'
    dependency com.acme:helpers:1:test
    members+='@Test void helped() { same(5, new Price(com.acme.help.Numbers.two()).plus(3)); }'
}
jpms() { put src/main/java/module-info.java 'module com.acme { exports com.acme; requires java.logging; }'; }
jpms_requires() {
    dependency org.slf4j:slf4j-api:2.0.13
    put src/main/java/module-info.java 'module com.acme { exports com.acme; requires org.slf4j; }'
    code='package com.acme;
public class Price { private static final org.slf4j.Logger LOG = org.slf4j.LoggerFactory.getLogger(Price.class);
private final int cents; public Price(int cents) { this.cents = cents; } '"$methods"' void log() { LOG.info("price"); } }'
    calls+=' new Price(1).log();'
}
kotlin() {
    dependency org.jetbrains.kotlin:kotlin-stdlib:1.9.25
    first_plugins='<plugin><groupId>org.jetbrains.kotlin</groupId><artifactId>kotlin-maven-plugin</artifactId><version>1.9.25</version><configuration><jvmTarget>17</jvmTarget></configuration><executions>
        <execution><id>compile</id><phase>process-sources</phase><goals><goal>compile</goal></goals><configuration><sourceDirs><sourceDir>src/main/kotlin</sourceDir><sourceDir>src/main/java</sourceDir></sourceDirs></configuration></execution>
        <execution><id>test-compile</id><phase>process-test-sources</phase><goals><goal>test-compile</goal></goals><configuration><sourceDirs><sourceDir>src/test/kotlin</sourceDir><sourceDir>src/test/java</sourceDir></sourceDirs></configuration></execution></executions></plugin>'
    put src/main/kotlin/com/acme/Limit.kt $'package com.acme\nobject Limit { @JvmStatic fun high(): Int = 1000 }'
    code=${code/1000/Limit.high()}
}

# ------------------------------------------------------------------------------------------------ forms of classes
record() { code='package com.acme; public record Price(int cents) { '"$methods"' }'; }
enum() { code='package com.acme; public enum Price { LOW(1000), HIGH(1001); private final int cents; Price(int cents) { this.cents = cents; } '"$methods"' }'; calls='same(1003, Price.LOW.plus(3)); same(false, Price.LOW.isHigh()); same(true, Price.HIGH.isHigh());'; }
interface_default() { code='package com.acme; public interface Price { int cents(); default int plus(int other) { return cents() + other; } default boolean isHigh() { return cents() > 1000; } }'; calls='Price p = () -> 1000; Price q = () -> 1001; same(1003, p.plus(3)); same(false, p.isHigh()); same(true, q.isHigh());'; }
abstract_class() { code='package com.acme; public abstract class Price { protected int cents; protected Price(int cents) { this.cents = cents; } '"$methods"' }'; calls=$(sed 's/new Price(\([0-9]*\))/new Price(\1) { }/g' <<<"$calls"); }
sealed() { code='package com.acme; public sealed interface Price { record Cents(int cents) implements Price { } record Free() implements Price { }
    static int plus(Price p, int other) { return p instanceof Cents c ? c.cents() + other : other; } }'; calls='same(5, Price.plus(new Price.Cents(2), 3)); same(3, Price.plus(new Price.Free(), 3));'; }
inner() { code='package com.acme; public class Price { private final int cents; public Price(int cents) { this.cents = cents; } '"$methods"'
    public class Tax { public int of(int rate) { return cents * rate; } } }'; calls+=' same(6, new Price(2).new Tax().of(3));'; }
lambdas() { code='package com.acme; public class Price { private final int cents; public Price(int cents) { this.cents = cents; } '"$methods"'
    public java.util.List<Integer> all(java.util.List<Integer> more) { return more.stream().filter(i -> i > 2).map(i -> i + cents).toList(); } }'; calls+=' same(java.util.List.of(5), new Price(2).all(java.util.List.of(2, 3)));'; }
generics() { code='package com.acme; public class Price<T extends Comparable<T>> { private final int cents; public Price(int cents) { this.cents = cents; } '"$methods"'
    public T more(T a, T b) { return a.compareTo(b) > 0 ? a : b; } }'; calls+=' same(3, new Price(1).more(3, 2)); same(3, new Price(1).more(2, 3));'; calls=$(sed 's/new Price(/new Price<Integer>(/g' <<<"$calls"); }
switch() { code='package com.acme; public class Price { private final int cents; public Price(int cents) { this.cents = cents; } '"$methods"'
    public String name() { return switch (cents) { case 0 -> "free"; case 1 -> "cheap"; default -> "dear"; }; } }'; calls+=' same("free", new Price(0).name()); same("cheap", new Price(1).name()); same("dear", new Price(9).name());'; }
text_block() { code='package com.acme; public class Price { private final int cents; public Price(int cents) { this.cents = cents; } '"$methods"'
    public String text() { return """
        %d cents""".formatted(cents); } }'; calls+=' same("2 cents", new Price(2).text());'; }
utility() { code='package com.acme; public final class Price { private Price() { } public static int plus(int cents, int other) { return cents + other; } public static boolean isHigh(int cents) { return cents > 1000; } }'
    calls='same(5, Price.plus(2, 3)); same(false, Price.isHigh(1000)); same(true, Price.isHigh(1001));'; }
second_class() { code+=$'\nclass Beside { int less(int a) { return a - 1; } }'; calls+=' same(1, new Beside().less(2));'; }
unicode() { code=${code//other/größe}; }
