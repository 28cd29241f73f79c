package ralph.pit;

import com.sun.source.util.JavacTask;
import com.sun.source.util.TreeScanner;
import java.io.*;
import java.lang.instrument.ClassFileTransformer;
import java.lang.reflect.Field;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.security.*;
import java.util.*;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.*;
import javax.tools.*;
import org.apache.commons.text.StringEscapeUtils;
import org.objectweb.asm.tree.*;
import org.pitest.bytecode.analysis.*;
import org.pitest.classinfo.*;
import org.pitest.classpath.ClassloaderByteArraySource;
import org.pitest.classpath.CodeSource;
import org.pitest.coverage.*;
import org.pitest.extension.common.TestUnitDecorator;
import org.pitest.help.PitHelpError;
import org.pitest.junit.*;
import org.pitest.mutationtest.*;
import org.pitest.mutationtest.build.*;
import org.pitest.mutationtest.build.intercept.annotations.ExcludedAnnotationInterceptorFactory;
import org.pitest.mutationtest.build.intercept.javafeatures.RecordFilterFactory;
import org.pitest.mutationtest.build.intercept.staticinitializers.StaticInitializerInterceptorFactory;
import org.pitest.mutationtest.config.ReportOptions;
import org.pitest.mutationtest.engine.*;
import org.pitest.mutationtest.engine.gregor.config.GregorEngineFactory;
import org.pitest.mutationtest.environment.TransformationPlugin;
import org.pitest.plugin.Feature;
import org.pitest.reloc.asm.ClassReader;
import org.pitest.reloc.asm.ClassWriter;
import org.pitest.testapi.*;
import org.pitest.testapi.execute.ExitingResultCollector;
import org.pitest.util.ResultOutputStrategy;

/**
 * Ralph's part of PIT. It narrows mutants to a list, shows PIT's mutants of all written code, adds controls that show whether a failing
 * test is a kill, and writes the results of the run to one file. Ralph compiles it once per version of PIT with the project's own JDK.
 */
public final class RalphPlugin {

    private RalphPlugin() {
    }

    /** What PIT asks of each part of a plugin. */
    abstract static class Part {

        public String description() {
            return "A part of ralph's plugin";
        }

        public Feature provides() {
            return Feature.named("ralph" + getClass().getSimpleName()).withOnByDefault(true).withDescription(description());
        }
    }

    /**
     * Ralph's orders for a run, from the file that the system property {@code ralph.input} names. The last field of a line is a value of
     * the fields before it; tabs separate fields. {@code K key} seals the results. {@code O alone} starts each test, {@code O count} runs
     * no mutant, {@code O search} leaves out controls, {@code O map} records which tests execute what, {@code O lines} and
     * {@code O mutants} say that there is a list of these. {@code A class} ends the run where a test of this class fails without a
     * mutation. {@code C class} keeps the mutants of a class and those nested in it, {@code L folder/File.java first-last} those on these
     * lines, {@code M class method descriptor mutator 1,2,3} one mutant; a mutant must be kept by each list. Before PIT has merged the
     * copies of an inlined finally block a mutant has part of the indexes that its report will give: hence a subset suffices.
     */
    static final class Input {

        private static final Map<String, Set<String>> VALUES = read(Paths.get(System.getProperty("ralph.input")));

        private static Map<String, Set<String>> read(Path file) {
            try {
                List<String> lines = Files.readAllLines(file, StandardCharsets.UTF_8);
                // No test has run yet, and none may learn the key.
                Files.delete(file);
                return lines.stream().collect(Collectors.groupingBy(line -> line.substring(0, line.lastIndexOf('\t')),
                    Collectors.mapping(line -> line.substring(line.lastIndexOf('\t') + 1), Collectors.toSet())));
            } catch (IOException error) {
                throw new IllegalStateException("ralph: " + file + " cannot be read", error);
            }
        }

        static Set<String> get(String... fields) {
            return VALUES.getOrDefault(String.join("\t", fields), Set.of());
        }

        static boolean isOn(String option) {
            return get("O").contains(option);
        }
    }

    /**
     * The one file that ralph reads of a run, in the folder of the report. PIT's own process writes it as it ends; no JVM of tests does.
     * It is a JSON array, whose parts are arrays as well: the stage that PIT reached, its words for why it gave up, and rows of
     * tests, controls and mutants. A seal follows, SHA-256 of all before and the key, so that
     * nothing else can have written the file.
     */
    static final class ResultsFile {

        static final List<Object> TESTS = new ArrayList<>();
        static final List<Object> CONTROLS = new ArrayList<>();
        static final List<Object> MUTANTS = new ArrayList<>();
        /** Mutants before PIT's filters, each counted as often as PIT looks for it. */
        static volatile long found = -1;
        static volatile String stage = "tests";
        private static volatile String failure = "";

        static void begin(ReportOptions options) {
            if (found < 0) {
                found = 0;
                Path file = Paths.get(options.getReportDir(), "results.json");
                String key = String.join("", Input.get("K"));
                Runtime.getRuntime().addShutdownHook(new Thread(() -> write(file, key)));
                Thread.currentThread().setUncaughtExceptionHandler((main, error) -> {
                    failure = error.toString().split("\\R", 2)[0];
                    main.getThreadGroup().uncaughtException(main, error);
                });
            }
        }

        private static String json(Object value) {
            if (value instanceof Collection) {
                return ((Collection<?>) value).stream().map(ResultsFile::json).collect(Collectors.joining(",", "[", "]"));
            }
            return value instanceof Number || value instanceof Boolean
                ? value.toString()
                : "\"" + StringEscapeUtils.escapeJson(value.toString()) + "\"";
        }

        private static void write(Path file, String key) {
            try {
                // PIT runs no test where there is nothing to mutate.
                String reached = found == 0 && failure.isEmpty() ? "done" : stage;
                String content = json(List.of(reached, failure, TESTS, CONTROLS, MUTANTS));
                byte[] seal = MessageDigest.getInstance("SHA-256").digest((content + key).getBytes(StandardCharsets.UTF_8));
                // A test may have put something else there.
                Files.deleteIfExists(file);
                String text = content + String.format("%064x", new BigInteger(1, seal));
                Files.writeString(file, text, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
            } catch (IOException | GeneralSecurityException error) {
                System.err.println("ralph: " + file + " cannot be written: " + error);
            }
        }
    }

    /** A filter of mutants that is its own factory. */
    abstract static class Filter extends Part implements MutationInterceptorFactory, MutationInterceptor {

        ReportOptions options;

        @Override
        public MutationInterceptor createInterceptor(InterceptorParameters params) {
            options = params.data();
            ResultsFile.begin(options);
            return this;
        }

        @Override
        public void begin(ClassTree tree) {
        }

        @Override
        public void end() {
        }
    }

    /** Keeps the mutants that ralph asked for. */
    public static final class Keep extends Filter {

        @Override
        public InterceptorType type() {
            return InterceptorType.PRE_SCAN_FILTER;
        }

        @Override
        public Collection<MutationDetails> intercept(Collection<MutationDetails> found, Mutater mutater) {
            List<MutationDetails> kept = found.stream()
                .filter(this::isOfClass)
                .filter(mutant -> !Input.isOn("lines") || isOnLine(mutant))
                .filter(mutant -> !Input.isOn("mutants") || isListed(mutant))
                .collect(Collectors.toList());
            ResultsFile.found += kept.size();
            chooseUnitSize(kept.size());
            return kept;
        }

        /** A unit for each processor, of 32 to 200 mutants (8 in a search), since its JVM takes seconds to start. One more is the control. */
        private void chooseUnitSize(int mutants) {
            int threads = options.getNumberOfThreads();
            if (threads > 1 && options.getMutationUnitSize() != 1) {
                int fewest = Input.isOn("search") ? 8 : 32;
                int size = 1 + Math.max(fewest, Math.min(200, (mutants + threads - 1) / threads));
                options.setMutationUnitSize(Math.max(options.getMutationUnitSize(), size));
            }
        }

        private boolean isOfClass(MutationDetails mutant) {
            String type = mutant.getClassName().asJavaName() + "$";
            return Input.get("C").stream().anyMatch(asked -> type.startsWith(asked + "$"));
        }

        private boolean isOnLine(MutationDetails mutant) {
            int line = mutant.getLineNumber();
            String folder = mutant.getClassName().getPackage().asInternalName();
            return Input.get("L", (folder.isEmpty() ? "" : folder + "/") + mutant.getFilename()).stream()
                .map(range -> range.split("-"))
                .anyMatch(ends -> Integer.parseInt(ends[0]) <= line && line <= Integer.parseInt(ends[1]));
        }

        private boolean isListed(MutationDetails mutant) {
            List<String> indexes = mutant.getId().getIndexes().stream().map(String::valueOf).collect(Collectors.toList());
            return Input.get("M", mutant.getClassName().asJavaName(), mutant.getMethod(), mutant.getId().getLocation().getMethodDesc(),
                mutant.getMutator()).stream().anyMatch(listed -> List.of(listed.split(",")).containsAll(indexes));
        }
    }

    /**
     * In the place of those filters of PIT that hide code which somebody wrote: what an annotation or a record's
     * first line hides is left out only if the source does not declare it (a processor or the compiler made it); of a
     * call of a logger only the call itself, and the question whether it logs; of a static initialiser nothing.
     */
    public static final class Written extends Filter {

        /** Methods that run while their class is initialised, and perhaps never again. */
        static final Set<Location> INITIAL = ConcurrentHashMap.newKeySet();

        private MutationInterceptor hiding;
        private MutationInterceptor initial;
        private ClassTree tree;
        /** By the name of the source file. */
        private final Map<String, Set<String>> declared = new HashMap<>();

        @Override
        public MutationInterceptor createInterceptor(InterceptorParameters params) {
            hiding = new CompoundMutationInterceptor(List.of(new ExcludedAnnotationInterceptorFactory().createInterceptor(params),
                new RecordFilterFactory().createInterceptor(params)));
            initial = new StaticInitializerInterceptorFactory().createInterceptor(params);
            return super.createInterceptor(params);
        }

        @Override
        public InterceptorType type() {
            return InterceptorType.FILTER;
        }

        @Override
        public void begin(ClassTree tree) {
            this.tree = tree;
            declared.clear();
            hiding.begin(tree);
            initial.begin(tree);
        }

        @Override
        public Collection<MutationDetails> intercept(Collection<MutationDetails> found, Mutater mutater) {
            Set<MutationDetails> shown = new HashSet<>(hiding.intercept(found, mutater));
            List<MutationDetails> kept = new ArrayList<>(found);
            kept.removeIf(mutant -> isOfLogger(mutant) || !shown.contains(mutant) && !isDeclared(mutant));
            Set<MutationDetails> hidden = new HashSet<>(kept);
            initial.intercept(kept, mutater).forEach(hidden::remove);
            hidden.forEach(mutant -> INITIAL.add(mutant.getId().getLocation()));
            return kept;
        }

        private boolean isOfLogger(MutationDetails mutant) {
            MethodTree method = tree.method(mutant.getId().getLocation()).orElseThrow();
            AbstractInsnNode mutated = method.instruction(mutant.getInstructionIndex());
            if (mutated instanceof JumpInsnNode) {
                mutated = mutated.getPrevious();
            }
            String owner = mutated instanceof MethodInsnNode ? ((MethodInsnNode) mutated).owner.replace('/', '.') : "";
            return options.getLoggingClasses().stream().anyMatch(owner::startsWith);
        }

        /** True where that is not known, and for the methods of classes without a name. */
        private boolean isDeclared(MutationDetails mutant) {
            String name = tree.name().asJavaName();
            String inside = name.substring(name.lastIndexOf('.') + 1);
            String method = mutant.getMethod().replaceFirst("^lambda\\$(.+)\\$\\d+$", "$1");
            boolean isLambda = !method.equals(mutant.getMethod());
            // A lambda of an initialiser, or one that an old compiler does not name by its method.
            if (inside.matches(".*\\$\\d.*") || isLambda && List.of("static", "new", "null").contains(method)) {
                return true;
            }
            Set<String> names = declared.computeIfAbsent(mutant.getFilename(), this::declaredIn);
            return names.isEmpty() || names.contains(inside + "#" + method);
        }

        /** {@code Outer$Inner#method}; none where there is no such source. */
        private Set<String> declaredIn(String file) {
            String folder = tree.rawNode().name.replaceAll("[^/]*$", "");
            Path[] sources = options.getSourcePaths().stream()
                .map(path -> path.resolve(folder + file))
                .filter(Files::isRegularFile)
                .toArray(Path[]::new);
            if (sources.length == 0) {
                return Set.of();
            }
            JavaCompiler javac = ToolProvider.getSystemJavaCompiler();
            StandardJavaFileManager files = javac.getStandardFileManager(null, null, StandardCharsets.UTF_8);
            DiagnosticCollector<JavaFileObject> problems = new DiagnosticCollector<>();
            JavacTask task = (JavacTask) javac.getTask(null, files, problems, List.of("-proc:none"), null,
                files.getJavaFileObjects(sources));
            Declared scanner = new Declared();
            try {
                scanner.scan(task.parse(), "");
            } catch (IOException error) {
                throw new IllegalStateException("ralph: " + List.of(sources) + " cannot be read", error);
            }
            // It has been compiled, so where it has an error its encoding is another: nothing is known of it.
            boolean isOdd = problems.getDiagnostics().stream().anyMatch(problem -> problem.getKind() == Diagnostic.Kind.ERROR);
            return isOdd ? Set.of() : scanner.names;
        }
    }

    static final class Declared extends TreeScanner<Void, String> {

        private final Set<String> names = new HashSet<>();

        @Override
        public Void visitClass(com.sun.source.tree.ClassTree type, String outer) {
            String name = outer.isEmpty() ? type.getSimpleName().toString() : outer + "$" + type.getSimpleName();
            names.add(name);
            return super.visitClass(type, name);
        }

        @Override
        public Void visitMethod(com.sun.source.tree.MethodTree method, String type) {
            names.add(type + "#" + method.getName());
            return super.visitMethod(method, type);
        }
    }

    /**
     * Code that initialises a class has run in a JVM before a mutant gets there, or would spoil it for the mutants
     * that follow: no test is asked. A lambda may run later, so its tests are.
     */
    public static final class PrioritiserFactory extends Part implements TestPrioritiserFactory {

        @Override
        public TestPrioritiser makeTestPrioritiser(Properties properties, CodeSource code, CoverageDatabase coverage) {
            TestPrioritiser own = new DefaultTestPrioritiserFactory().makeTestPrioritiser(properties, code, coverage);
            return mutant -> isInitial(mutant) && !mutant.getMethod().startsWith("lambda$")
                ? new ArrayList<>()
                : WholeClass.joinTests(own.assignTests(mutant));
        }
    }

    static boolean isInitial(MutationDetails mutant) {
        return Written.INITIAL.contains(mutant.getId().getLocation());
    }

    /** PIT's own engine, and beside it the control: a mutation that leaves its class as it is. */
    public static final class EngineFactory extends Part implements MutationEngineFactory {

        @Override
        public MutationEngine createEngine(EngineArguments arguments) {
            MutationEngine own = new GregorEngineFactory().createEngine(arguments);
            return new MutationEngine() {

                @Override
                public Mutater createMutator(ClassByteArraySource source) {
                    return withControl(own.createMutator(source), source);
                }

                @Override
                public Collection<String> getMutatorNames() {
                    return own.getMutatorNames();
                }

                @Override
                public String getName() {
                    return name();
                }
            };
        }

        @Override
        public String name() {
            return "ralph";
        }

        private static Mutater withControl(Mutater own, ClassByteArraySource source) {
            return new Mutater() {

                @Override
                public Mutant getMutation(MutationIdentifier id) {
                    forgetOwnLoader();
                    byte[] unchanged = source.getBytes(id.getClassName().asJavaName()).orElseThrow();
                    boolean isControl = Controls.isControl(id);
                    Mutant mutant = isControl ? new Mutant(new MutationDetails(id, "", "", 0, 0), unchanged) : own.getMutation(id);
                    byte[] bytes = Records.mutated(id.getClassName().asInternalName(), unchanged, mutant.getBytes());
                    return new Mutant(mutant.getDetails(), bytes);
                }

                @Override
                public List<MutationDetails> findMutations(ClassName mutated) {
                    return own.findMutations(mutated);
                }
            };
        }

        /**
         * PIT gives a mutant to the class loaders that have defined its class, and then to its own. To do so twice to that takes longer
         * than the tests, so it is taken out of the others.
         */
        private static void forgetOwnLoader() {
            try {
                Class<?> keeper = Class.forName("org.pitest.mutationtest.execute.CatchNewClassLoadersTransformer");
                Field loaders = keeper.getDeclaredField("CLASS_LOADERS");
                loaders.setAccessible(true);
                ((Map<?, ?>) loaders.get(null)).remove(RalphPlugin.class.getClassLoader());
            } catch (ReflectiveOperationException | RuntimeException error) {
                // This version of PIT keeps them elsewhere.
            }
        }
    }

    /**
     * The JVM compares type annotations of a record's components by their bytes, which are indexes into the constant pool, and spoils a
     * record that it is given with another pool. PIT writes each record anew as it is loaded, mutated or not, which gives it other
     * pools. So this takes that back: a record is loaded as it was compiled, and its mutants begin with the pool of its class.
     */
    public static final class Records extends Part implements TransformationPlugin, ClassFileTransformer {

        private static final Map<String, byte[]> MUTATED = new ConcurrentHashMap<>();

        static byte[] mutated(String name, byte[] unchanged, byte[] mutant) {
            ClassReader before = new ClassReader(unchanged);
            if (!isRecord(before)) {
                return mutant;
            }
            ClassWriter writer = new ClassWriter(before, 0);
            new ClassReader(mutant).accept(writer, 0);
            byte[] bytes = Arrays.equals(unchanged, mutant) ? unchanged : writer.toByteArray();
            MUTATED.put(name, bytes);
            return bytes;
        }

        private static boolean isRecord(ClassReader reader) {
            return "java/lang/Record".equals(reader.getSuperName());
        }

        @Override
        public ClassFileTransformer makeMutationTransformer() {
            return this;
        }

        @Override
        public byte[] transform(ClassLoader loader, String name, Class<?> loaded, ProtectionDomain domain, byte[] bytes) {
            if (loader == null || name == null || !isRecord(new ClassReader(bytes))) {
                return null;
            }
            // The JVM takes an error here for no change, too.
            return loaded != null ? MUTATED.get(name) : new ClassloaderByteArraySource(loader).getBytes(name).orElse(null);
        }
    }

    /**
     * A control runs each test that a mutant of its unit gets before any mutant of its JVM, in the first JVM twice:
     * then neither a test that expects to be the first nor a mutant that spoils the JVM passes for a kill. Each unit has one, and
     * units of a single mutant have one before and one after all of them. PIT sorts mutants by identity (hence the
     * control's names), cuts that list into units, and runs a unit in the order of a hash map (hence its index). Where
     * a control would not be the first, it gets no tests, so that PIT leaves it out; the first unit always has one. A search has none.
     */
    public static final class Controls extends Part implements ProjectMutationInterceptorFactory, ProjectMutationInterceptor {

        private static final String CONTROL = "!ralph.control";

        private int unit;

        @Override
        public ProjectMutationInterceptor createInterceptor(InterceptorParameters params) {
            unit = params.data().getMutationUnitSize();
            return this;
        }

        static boolean isControl(MutationIdentifier id) {
            return id.getMutator().endsWith(CONTROL);
        }

        @Override
        public InterceptorType type() {
            return InterceptorType.REPORT;
        }

        @Override
        public Collection<MutationDetails> intercept(Collection<MutationDetails> found) {
            // A mutant may keep PIT silent for as long as all of its tests take; without mutation a silent test hangs.
            new Timer(true).schedule(new TimerTask() {

                @Override
                public void run() {
                    System.out.println("ralph: mutants run");
                }
            }, 0, 1_000);
            if (Input.isOn("search")) {
                return found;
            }
            Map<ClassName, List<MutationDetails>> classes = found.stream().sorted(Comparator.comparing(MutationDetails::getId))
                .collect(Collectors.groupingBy(MutationDetails::getClassName));
            return classes.values().stream().flatMap(mutants -> withControls(mutants).stream()).collect(Collectors.toList());
        }

        private List<MutationDetails> withControls(List<MutationDetails> mutants) {
            int most = unit > 0 ? unit : mutants.size() + 1;
            List<MutationDetails> all = new ArrayList<>();
            MutationDetails before = null;
            boolean isDue = true;
            for (MutationDetails mutant : mutants) {
                isDue |= unit > 1 && all.size() % unit == 0;
                if (isDue && !isOfOneKind(before, mutant)) {
                    all.add(control(mutant, before, most));
                    isDue = false;
                }
                all.add(mutant);
                before = mutant;
            }
            if (unit == 1) {
                all.add(control(before, before, most));
            }
            for (int from = 0; from < all.size(); from += most) {
                List<MutationDetails> together = all.subList(from, Math.min(from + most, all.size()));
                // In the order of a mutant.
                List<TestInfo> tests = (unit == 1 ? mutants : together).stream().flatMap(mutant -> mutant.getTestsInOrder().stream())
                    .distinct().sorted(Comparator.comparing(WholeClass::isWhole)).collect(Collectors.toList());
                // The first in PIT's map of a unit, which PIT fills one by one as well.
                MutationDetails first = together.stream().collect(Collectors.toCollection(HashSet::new)).iterator().next();
                if (isControl(first.getId())) {
                    first.addTestsInOrder(tests);
                    if (from == 0) {
                        first.addTestsInOrder(tests);
                    }
                }
            }
            return all;
        }

        /** No control can be sorted in between. */
        private static boolean isOfOneKind(MutationDetails before, MutationDetails mutant) {
            return before != null && before.getId().getLocation().equals(mutant.getId().getLocation())
                && before.getMutator().equals(mutant.getMutator());
        }

        /** Sorted behind a mutant, or before all of its class where that is null; in the first bucket of a unit's map. */
        private static MutationDetails control(MutationDetails of, MutationDetails before, int most) {
            int buckets = Math.max(16, 4 * Integer.highestOneBit(most));
            Location at = before == null ? new Location(of.getClassName(), "", "") : before.getId().getLocation();
            String mutator = (before == null ? "" : before.getMutator()) + CONTROL;
            return IntStream.iterate(0, index -> index + 1)
                .mapToObj(index -> new MutationDetails(new MutationIdentifier(at, index, mutator), of.getFilename(), "", 0, 0))
                .filter(control -> ((control.hashCode() ^ control.hashCode() >>> 16) & buckets - 1) == 0)
                .findFirst()
                .orElseThrow();
        }
    }

    /** Takes the controls out of the results, and notes what became of them and of the mutants. */
    public static final class Results implements MutationResultInterceptor {

        private static final int MOST_NAMES = 5;

        @Override
        public Collection<ClassMutationResults> modify(Collection<ClassMutationResults> results) {
            results.forEach(ofClass -> ofClass.getMutations().forEach(Results::note));
            return results.stream()
                .map(ofClass -> ofClass.getMutations().stream()
                    .filter(result -> !Controls.isControl(result.getDetails().getId()))
                    .collect(Collectors.toList()))
                .filter(mutants -> !mutants.isEmpty())
                .map(ClassMutationResults::new)
                .collect(Collectors.toList());
        }

        private static void note(MutationResult result) {
            MutationDetails mutant = result.getDetails();
            String type = mutant.getClassName().asJavaName();
            DetectionStatus status = result.getStatus();
            if (Controls.isControl(mutant.getId())) {
                if (status != DetectionStatus.NO_COVERAGE) {
                    ResultsFile.CONTROLS.add(List.of(type, status, killer(result)));
                }
            } else if (!Input.isOn("count")) {
                List<TestInfo> reaching = status.isDetected() ? List.of() : mutant.getTestsInOrder();
                Set<String> classes = reaching.stream().map(RalphPlugin::classOf).collect(Collectors.toCollection(TreeSet::new));
                List<Object> id = List.of(type, mutant.getMethod(), mutant.getId().getLocation().getMethodDesc(), mutant.getMutator(),
                    mutant.getId().getIndexes());
                ResultsFile.MUTANTS.add(List.of(id, mutant.getFilename(), mutant.getLineNumber(), status, killer(result),
                    mutant.getDescription(), isInitial(mutant), classes.size(),
                    classes.stream().limit(MOST_NAMES).collect(Collectors.toList())));
            }
        }

        /** The class and the name of the test that killed a mutant, empty if none did. */
        private static List<String> killer(MutationResult result) {
            String name = result.getKillingTest().orElse("");
            return result.getDetails().getTestsInOrder().stream()
                .map(RalphPlugin::classOf)
                .filter(type -> (name + ".").startsWith(type + "."))
                .findFirst()
                .map(type -> List.of(type, name.equals(type) ? name : name.substring(type.length() + 1)))
                .orElse(List.of("", ""));
        }

        /** PIT asks for it when all mutants have ended. */
        @Override
        public Collection<ClassMutationResults> remaining() {
            ResultsFile.stage = "done";
            return List.of();
        }
    }

    static String classOf(TestInfo test) {
        return TestInfo.toDefiningClassName().apply(test).asJavaName();
    }

    /** A class's name up to its first dollar sign. */
    static String topLevel(String name) {
        return name.replaceAll("\\$.*", "");
    }

    /** Notes how each test ended without a mutation, and for a map which classes it executed. */
    public static final class Tests extends Part implements TestStatListenerFactory, TestStatListener {

        /** By the top-level class of a test. */
        private final Map<String, Set<String>> executed = new HashMap<>();
        private boolean isOver;

        @Override
        public TestStatListener createTestListener(ResultOutputStrategy files) {
            return this;
        }

        @Override
        public void accept(CoverageResult result) {
            Description test = result.getTestUnitDescription();
            String type = test.getFirstTestClass();
            Set<String> known = executed.computeIfAbsent(topLevel(type), unused -> new HashSet<>());
            Collection<BlockLocation> blocks = Input.isOn("map") ? result.getCoverage() : List.of();
            List<String> news = blocks.stream()
                .map(block -> topLevel(block.getLocation().getClassName().asJavaName()))
                .filter(known::add)
                .collect(Collectors.toList());
            ResultsFile.TESTS.add(List.of(type, test.getName(), result.isGreenTest(), result.getExecutionTime(), news));
            WholeClass.addTime(type, result.isGreenTest(), result.getExecutionTime());
            isOver |= !result.isGreenTest() && Input.get("A").contains(topLevel(type)) && !Input.isOn("count");
        }

        @Override
        public List<String> messages() {
            return List.of();
        }

        @Override
        public void end() {
            ResultsFile.stage = "mutants";
            if (isOver) {
                // Mutants could not change the verdict.
                throw new IllegalStateException("ralph: a test of the changed classes fails without any mutation");
            }
        }
    }

    /**
     * Finds tests with PIT's support of each framework, and makes other units of them. Where a mutant keeps a class of JUnit 3 from being
     * made, PIT finds nothing to run and takes the tests for skipped; JUnit 3 skips no test, so they have failed. A class of JUnit's
     * platform (5 and 6) has a unit of its own beside those of its tests.
     */
    public static final class TestUnits extends Part implements TestPluginFactory, Configuration {

        private List<Configuration> frameworks;

        @Override
        public Configuration createTestFrameworkConfiguration(TestGroupConfig groups, ClassByteArraySource source,
                Collection<String> excludedRunners, Collection<String> includedMethods) {
            frameworks = ServiceLoader.load(TestPluginFactory.class).stream()
                .filter(factory -> factory.type() != TestUnits.class)
                .map(factory -> factory.get().createTestFrameworkConfiguration(groups, source, excludedRunners, includedMethods))
                .filter(own -> !(own instanceof NullConfiguration) && own.verifyEnvironment().isEmpty())
                .sorted(Comparator.comparing(Configuration::priority))
                .collect(Collectors.toList());
            // PIT's own say why there is none.
            return frameworks.isEmpty() ? new NullConfiguration() : this;
        }

        @Override
        public String name() {
            return "ralph";
        }

        /** Before PIT's. */
        @Override
        public int priority() {
            return -1;
        }

        @Override
        public TestUnitFinder testUnitFinder() {
            List<TestUnitFinder> finders = frameworks.stream().map(Configuration::testUnitFinder).collect(Collectors.toList());
            TestUnitFinder finder = new CompoundTestUnitFinder(finders);
            return (type, listener) -> {
                List<TestUnit> units = new ArrayList<>(finder.findTestUnits(type, listener));
                if (!units.isEmpty() && units.get(0) instanceof ExecutedInDiscovery) {
                    units.add(new WholeClass(type, finder));
                } else if (isOfJUnit3(type)) {
                    units.replaceAll(Unskipped::new);
                }
                return units;
            };
        }

        private static boolean isOfJUnit3(Class<?> type) {
            return type != null && (type.getName().equals("junit.framework.TestCase") || isOfJUnit3(type.getSuperclass()));
        }

        @Override
        public TestSuiteFinder testSuiteFinder() {
            return type -> List.of();
        }

        @Override
        public Optional<PitHelpError> verifyEnvironment() {
            return Optional.empty();
        }
    }

    static final class Unskipped extends TestUnitDecorator {

        Unskipped(TestUnit unit) {
            super(unit);
        }

        @Override
        public void execute(ResultCollector results) {
            child().execute(new ExitingResultCollector(results) {

                @Override
                public void notifySkipped(Description test) {
                    notifyEnd(test, new AssertionError("the test class cannot be made"));
                }
            });
        }
    }

    /** All tests of a class of JUnit's platform. PIT's support of it finds tests by running them. */
    static final class WholeClass extends AbstractTestUnit implements ExecutedInDiscovery {

        private static final String NAME = "all tests";
        /** In which the platform begins to run a test or a class. */
        private static final int START_MILLIS = 10;
        /** Adds 3 seconds to the time-out: what a class sets up between its tests is in no test's time. */
        private static final int MORE_MILLIS = 2_400;
        /** Of a class in which a test fails without a mutation. */
        private static final int RED_MILLIS = 1_000_000_000;
        /** The first tests kill most mutants. */
        private static final int FIRST = 4;
        /** What the tests of a class take together without a mutation. */
        private static final Map<String, Integer> CLASS_MILLIS = new HashMap<>();

        private final Class<?> type;
        private final TestUnitFinder finder;

        WholeClass(Class<?> type, TestUnitFinder finder) {
            super(new Description(NAME, type));
            this.type = type;
            this.finder = finder;
        }

        @Override
        public void execute(ResultCollector results) {
            finder.findTestUnits(type, new TestUnitExecutionListener() {

                @Override
                public void executionStarted(Description test) {
                    results.notifyStart(test);
                }

                @Override
                public void executionFinished(Description test, boolean passed, Throwable error) {
                    results.notifyEnd(test, error);
                }
            });
        }

        /** PIT cuts times to whole milliseconds. */
        static void addTime(String type, boolean isGreen, int millis) {
            CLASS_MILLIS.merge(type, isGreen ? millis + 1 : RED_MILLIS, (all, more) -> Math.min(all + more, RED_MILLIS));
        }

        /** The first tests of a mutant, others, and at last classes whose tests take less time than it takes to start those asked for. */
        static List<TestInfo> joinTests(List<TestInfo> tests) {
            int first = Input.isOn("alone") ? tests.size() : FIRST;
            List<TestInfo> joined = tests.stream().limit(first).collect(Collectors.toList());
            Map<String, List<TestInfo>> classes = tests.stream().skip(first)
                .collect(Collectors.groupingBy(RalphPlugin::classOf, LinkedHashMap::new, Collectors.toList()));
            classes.forEach((type, rest) -> {
                int millis = CLASS_MILLIS.get(type);
                if (rest.get(0).getName().startsWith(type + ".[engine:") && millis < START_MILLIS * rest.size()) {
                    joined.add(new TestInfo(type, type + "." + NAME, millis + MORE_MILLIS, Optional.empty(), 0));
                } else {
                    joined.addAll(rest);
                }
            });
            joined.sort(Comparator.comparing(WholeClass::isWhole));
            return joined;
        }

        static boolean isWhole(TestInfo test) {
            return test.getName().endsWith("." + NAME);
        }
    }
}
