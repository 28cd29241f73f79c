package ralph.pit;

import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreeScanner;
import java.io.*;
import java.lang.instrument.ClassFileTransformer;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.math.BigInteger;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.security.*;
import java.util.*;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.*;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.*;
import org.pitest.bytecode.analysis.*;
import org.pitest.classinfo.*;
import org.pitest.classpath.CodeSource;
import org.pitest.coverage.*;
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
     * Ralph's orders for a run, from the file that the system property {@code ralph.input} names. Fields are separated by tabs:
     * {@code K key} seals the results; {@code O search} leaves out controls, {@code O map} records which tests execute what;
     * {@code A class} ends the run where a test of this class fails without a mutation. {@code C class} keeps the mutants of a class and
     * those nested in it, {@code L folder/File.java first last} those on these lines, {@code M class method descriptor mutator 1,2,3} one
     * mutant; with several of these kinds a mutant must be kept by each. Before PIT has merged the copies of an inlined finally block a
     * mutant has part of the indexes that its report will give: hence a subset suffices.
     */
    static final class Input {

        static final Input OF_RUN = new Input(Paths.get(System.getProperty("ralph.input")));

        String key = "";
        final Set<String> options = new HashSet<>();
        final Set<String> accountable = new HashSet<>();
        final Set<String> classes = new HashSet<>();
        final Map<String, List<int[]>> lines = new HashMap<>();
        final Map<String, List<Set<Integer>>> mutants = new HashMap<>();

        private Input(Path file) {
            try {
                for (String line : Files.readAllLines(file, StandardCharsets.UTF_8)) {
                    read(line.split("\t", -1));
                }
                // No test has run yet, and none may learn the key.
                Files.delete(file);
            } catch (IOException error) {
                throw new IllegalStateException("ralph: " + file + " cannot be read", error);
            }
        }

        private void read(String[] parts) {
            switch (parts[0] + parts.length) {
                case "K2":
                    key = parts[1];
                    break;
                case "O2":
                    options.add(parts[1]);
                    break;
                case "A2":
                    accountable.add(parts[1]);
                    break;
                case "C2":
                    classes.add(parts[1]);
                    break;
                case "L4":
                    int[] range = {Integer.parseInt(parts[2]), Integer.parseInt(parts[3])};
                    lines.computeIfAbsent(parts[1], file -> new ArrayList<>()).add(range);
                    break;
                case "M6":
                    Set<Integer> indexes = new HashSet<>();
                    for (String index : parts[5].split(",")) {
                        indexes.add(Integer.valueOf(index));
                    }
                    String key = String.join("\t", Arrays.asList(parts).subList(1, 5));
                    mutants.computeIfAbsent(key, unused -> new ArrayList<>()).add(indexes);
                    break;
                default:
                    throw new IllegalStateException("ralph: bad line of input: " + String.join("\t", parts));
            }
        }
    }

    /**
     * The one file that ralph reads of a run, in the folder of the report. PIT's own process writes it as it ends; no JVM of tests does.
     * Lines of fields separated by tabs, in this order: {@code T class name green|red millis} a test without mutation;
     * {@code X class 0,4,7} the tests that execute a class, as numbers of the top-level classes in the order of their first T;
     * {@code C class status test-class test} a control; {@code M class method descriptor mutator indexes file line status killer
     * description initial tests 5-test-classes} a mutant; {@code F message} why PIT gave up;
     * {@code E stage found millis lines seal} the end, where {@code found} counts mutants before PIT's filters and {@code seal} is
     * SHA-256 of the key and the SHA-256 of all before the seal, so that nothing else can have written the file.
     */
    static final class ResultsFile {

        static final List<String> TESTS = new ArrayList<>();
        static final List<String> EXECUTED = new ArrayList<>();
        static final Set<String> CONTROLS = new LinkedHashSet<>();
        static final List<String> MUTANTS = new ArrayList<>();
        static final AtomicLong FOUND = new AtomicLong(-1);
        static volatile String stage = "tests";
        static volatile long millis;
        private static final List<String> FAILURES = new ArrayList<>();

        static void begin(ReportOptions options) {
            if (FOUND.compareAndSet(-1, 0)) {
                Path file = Paths.get(options.getReportDir(), "results.tsv");
                Runtime.getRuntime().addShutdownHook(new Thread(() -> write(file)));
                Thread.setDefaultUncaughtExceptionHandler((thread, error) -> {
                    if (thread.getName().equals("main")) {
                        FAILURES.add(line("F", error.toString().split("\\R", 2)[0]));
                    }
                    System.err.print("Exception in thread \"" + thread.getName() + "\" ");
                    error.printStackTrace();
                });
            }
        }

        static String line(Object... fields) {
            List<String> texts = new ArrayList<>();
            for (Object field : fields) {
                texts.add(field.toString().replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r"));
            }
            return String.join("\t", texts);
        }

        private static void write(Path file) {
            try {
                List<String> lines = new ArrayList<>();
                List.of(TESTS, EXECUTED, CONTROLS, MUTANTS, FAILURES).forEach(lines::addAll);
                String reached = FOUND.get() == 0 && lines.isEmpty() ? "done" : stage;
                lines.add(line("E", reached, FOUND, millis, lines.size()));
                MessageDigest digest = MessageDigest.getInstance("SHA-256");
                // A test may have put something else there.
                Files.deleteIfExists(file);
                try (OutputStream bytes = Files.newOutputStream(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
                        OutputStream out = new BufferedOutputStream(new DigestOutputStream(bytes, digest))) {
                    out.write(String.join("\n", lines).getBytes(StandardCharsets.UTF_8));
                    out.flush();
                    byte[] content = digest.digest();
                    digest.update(Input.OF_RUN.key.getBytes(StandardCharsets.UTF_8));
                    String seal = new BigInteger(1, digest.digest(content)).toString(16);
                    out.write(("\t" + "0".repeat(64 - seal.length()) + seal + "\n").getBytes(StandardCharsets.UTF_8));
                }
            } catch (IOException | GeneralSecurityException error) {
                System.err.println("ralph: " + file + " cannot be written: " + error);
            }
        }
    }

    /** Keeps the mutants that ralph asked for. */
    public static final class KeepFactory extends Part implements MutationInterceptorFactory {

        @Override
        public MutationInterceptor createInterceptor(InterceptorParameters params) {
            ResultsFile.begin(params.data());
            return new Keep();
        }
    }

    static final class Keep implements MutationInterceptor {

        private final Input input = Input.OF_RUN;
        private String folder = "";

        @Override
        public InterceptorType type() {
            return InterceptorType.PRE_SCAN_FILTER;
        }

        @Override
        public void begin(ClassTree tree) {
            String name = tree.name().asInternalName();
            folder = name.contains("/") ? name.substring(0, name.lastIndexOf('/') + 1) : "";
        }

        @Override
        public Collection<MutationDetails> intercept(Collection<MutationDetails> found, Mutater mutater) {
            Collection<MutationDetails> kept = new ArrayList<>();
            for (MutationDetails mutant : found) {
                String type = mutant.getClassName().asJavaName();
                Set<String> classes = input.classes;
                boolean isOfClass = classes.isEmpty() || classes.contains(type) || classes.contains(topLevel(type));
                if (isOfClass && (input.lines.isEmpty() || isOnLine(mutant)) && (input.mutants.isEmpty() || isListed(mutant))) {
                    kept.add(mutant);
                }
            }
            ResultsFile.FOUND.addAndGet(kept.size());
            return kept;
        }

        private boolean isOnLine(MutationDetails mutant) {
            int line = mutant.getLineNumber();
            List<int[]> ranges = input.lines.getOrDefault(folder + mutant.getFilename(), List.of());
            return ranges.stream().anyMatch(range -> range[0] <= line && line <= range[1]);
        }

        private boolean isListed(MutationDetails mutant) {
            Collection<Integer> indexes = mutant.getId().getIndexes();
            return input.mutants.getOrDefault(key(mutant), List.of()).stream().anyMatch(set -> set.containsAll(indexes));
        }

        @Override
        public void end() {
        }
    }

    /**
     * In the place of those filters of PIT that hide code which somebody wrote: what an annotation or a record's
     * first line hides is left out only if the source does not declare it (a processor or the compiler made it); of a
     * call of a logger only the call itself, and the question whether it logs; of a static initialiser nothing.
     */
    public static final class WrittenFactory extends Part implements MutationInterceptorFactory {

        @Override
        public MutationInterceptor createInterceptor(InterceptorParameters params) {
            return new Written(params);
        }
    }

    static final class Written implements MutationInterceptor {

        /** Methods that run while their class is initialised, and perhaps never again. */
        static final Set<Location> INITIAL = ConcurrentHashMap.newKeySet();

        private static final Pattern LAMBDA = Pattern.compile("lambda\\$(.+)\\$\\d+");

        private final List<MutationInterceptor> hiding;
        private final MutationInterceptor initial;
        private final ReportOptions options;
        private ClassTree tree;
        private Set<String> declared;

        Written(InterceptorParameters params) {
            hiding = List.of(new ExcludedAnnotationInterceptorFactory().createInterceptor(params),
                new RecordFilterFactory().createInterceptor(params));
            initial = new StaticInitializerInterceptorFactory().createInterceptor(params);
            options = params.data();
        }

        @Override
        public InterceptorType type() {
            return InterceptorType.FILTER;
        }

        @Override
        public void begin(ClassTree tree) {
            this.tree = tree;
            declared = null;
            hiding.forEach(filter -> filter.begin(tree));
            initial.begin(tree);
        }

        @Override
        public Collection<MutationDetails> intercept(Collection<MutationDetails> found, Mutater mutater) {
            Set<MutationDetails> shown = new HashSet<>(found);
            hiding.forEach(filter -> shown.retainAll(new HashSet<>(filter.intercept(found, mutater))));
            Set<MutationDetails> later = new HashSet<>(initial.intercept(found, mutater));
            Collection<MutationDetails> kept = new ArrayList<>();
            for (MutationDetails mutant : found) {
                if (isOfLogger(mutant) || !shown.contains(mutant) && !isDeclared(mutant)) {
                    continue;
                }
                if (!later.contains(mutant)) {
                    INITIAL.add(mutant.getId().getLocation());
                }
                kept.add(mutant);
            }
            return kept;
        }

        private boolean isOfLogger(MutationDetails mutant) {
            MethodTree method = tree.method(mutant.getId().getLocation()).orElseThrow();
            AbstractInsnNode mutated = method.instruction(mutant.getInstructionIndex());
            if (mutated instanceof JumpInsnNode) {
                mutated = mutated.getPrevious();
            }
            if (!(mutated instanceof MethodInsnNode)) {
                return false;
            }
            String owner = ((MethodInsnNode) mutated).owner.replace('/', '.');
            return options.getLoggingClasses().stream().anyMatch(name -> owner.startsWith(name));
        }

        /** True where that is not known, and for the methods of classes without a name. */
        private boolean isDeclared(MutationDetails mutant) {
            String name = tree.name().asJavaName();
            String inside = name.substring(name.lastIndexOf('.') + 1);
            Matcher lambda = LAMBDA.matcher(mutant.getMethod());
            boolean isLambda = lambda.matches();
            // A lambda of an initialiser, or one that an old compiler does not name by its method.
            if (inside.matches(".*\\$\\d.*") || isLambda && List.of("static", "new", "null").contains(lambda.group(1))) {
                return true;
            }
            if (declared == null) {
                declared = declaredIn(mutant.getFilename());
            }
            String descriptor = mutant.getId().getLocation().getMethodDesc();
            String counted = mutant.getMethod() + "/" + Type.getArgumentTypes(descriptor).length;
            boolean isCounted = !isLambda && !mutant.getMethod().equals("<init>");
            return declared.isEmpty()
                || declared.contains(spelled(inside + "#" + (isLambda ? lambda.group(1) : isCounted ? counted : "<init>")));
        }

        /** {@code Outer$Inner#method} and the same with {@code /parameters}; none where there is no such source. */
        private Set<String> declaredIn(String file) {
            String folder = tree.rawNode().name.replaceAll("[^/]*$", "");
            Set<String> names = new HashSet<>();
            JavaCompiler javac = ToolProvider.getSystemJavaCompiler();
            for (Path sources : options.getSourcePaths()) {
                Path source = sources.resolve(folder + file);
                if (!Files.isRegularFile(source)) {
                    continue;
                }
                try {
                    AtomicBoolean isOdd = new AtomicBoolean();
                    JavacTask task = (JavacTask) javac.getTask(null, null,
                        problem -> isOdd.compareAndSet(false, problem.getKind() == Diagnostic.Kind.ERROR),
                        List.of("-proc:none"), null, List.of(new Source(source.toUri(), Files.readAllBytes(source))));
                    for (CompilationUnitTree unit : task.parse()) {
                        new Declared(names).scan(unit, "");
                    }
                    if (isOdd.get()) {
                        // It has been compiled, so its encoding is not what it seems here: nothing is known of it.
                        return Set.of();
                    }
                } catch (IOException error) {
                    throw new IllegalStateException("ralph: " + source + " cannot be read", error);
                }
            }
            return names;
        }

        /** What is not ASCII is not compared: the encoding of the source is not known. */
        static String spelled(String name) {
            return name.replaceAll("[^\\x00-\\x7f]+", "?");
        }

        @Override
        public void end() {
        }
    }

    /** A source whose encoding is not known: some letter stands for the bytes that are not ASCII. */
    static final class Source extends SimpleJavaFileObject {

        private final String text;

        Source(URI uri, byte[] bytes) {
            super(uri, Kind.SOURCE);
            text = new String(bytes, StandardCharsets.ISO_8859_1).replaceAll("[^\\x00-\\x7f]+", "\u00e9");
        }

        @Override
        public CharSequence getCharContent(boolean ignoreErrors) {
            return text;
        }
    }

    static final class Declared extends TreeScanner<Void, String> {

        private final Set<String> names;

        Declared(Set<String> names) {
            this.names = names;
        }

        @Override
        public Void visitClass(com.sun.source.tree.ClassTree type, String outer) {
            String name = outer.isEmpty() ? type.getSimpleName().toString() : outer + "$" + type.getSimpleName();
            names.add(Written.spelled(name));
            return super.visitClass(type, name);
        }

        @Override
        public Void visitMethod(com.sun.source.tree.MethodTree method, String type) {
            String name = type + "#" + method.getName();
            names.add(Written.spelled(name));
            names.add(Written.spelled(name + "/" + method.getParameters().size()));
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
                : own.assignTests(mutant);
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
                    return new WithControl(own.createMutator(source), source);
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
    }

    static final class WithControl implements Mutater {

        private final Mutater own;
        private final ClassByteArraySource source;

        WithControl(Mutater own, ClassByteArraySource source) {
            this.own = own;
            this.source = source;
        }

        @Override
        public Mutant getMutation(MutationIdentifier id) {
            byte[] unchanged = source.getBytes(id.getClassName().asJavaName()).orElseThrow();
            boolean isControl = Controls.isControl(id);
            Mutant mutant = isControl ? new Mutant(new MutationDetails(id, "", "", 0, 0), unchanged) : own.getMutation(id);
            return new Mutant(mutant.getDetails(), Records.mutated(id.getClassName().asInternalName(), unchanged, mutant.getBytes()));
        }

        @Override
        public List<MutationDetails> findMutations(ClassName mutated) {
            return own.findMutations(mutated);
        }
    }

    /**
     * The JVM compares type annotations of a record's components by their bytes, which are indexes into the constant pool, and spoils a
     * record that it is given with another pool. PIT writes each record anew as it is loaded, mutated or not, which gives it other
     * pools. So this takes that back: a record is loaded as it was compiled, and its mutants begin with the pool of its class.
     */
    public static final class Records extends Part implements TransformationPlugin {

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
        public ClassFileTransformer makeTransformer() {
            return new ClassFileTransformer() {
            };
        }

        @Override
        public ClassFileTransformer makeMutationTransformer() {
            return new ClassFileTransformer() {

                @Override
                public byte[] transform(ClassLoader loader, String name, Class<?> loaded, ProtectionDomain domain, byte[] bytes) {
                    if (loader == null || name == null || !isRecord(new ClassReader(bytes))) {
                        return null;
                    }
                    if (loaded != null) {
                        return MUTATED.get(name);
                    }
                    try (InputStream file = loader.getResourceAsStream(name + ".class")) {
                        return file == null ? null : file.readAllBytes();
                    } catch (IOException error) {
                        return null;
                    }
                }
            };
        }
    }

    /**
     * Prints how many mutants will run, once all filters have been applied, and that they run; adds the controls, unless the run is a
     * search.
     */
    public static final class ControlsFactory extends Part implements ProjectMutationInterceptorFactory {

        @Override
        public ProjectMutationInterceptor createInterceptor(InterceptorParameters params) {
            return new Controls(params.data().getMutationUnitSize(), !Input.OF_RUN.options.contains("search"));
        }
    }

    /**
     * A control runs each test that reaches a mutant of its unit before any mutant of its JVM, in the first JVM twice:
     * then neither a test that expects to be the first nor a mutant that spoils the JVM passes for a kill. Each unit has one, and
     * units of a single mutant have one before and one after all of them. PIT sorts mutants by identity (hence the
     * control's names), cuts that list into units, and runs a unit in the order of a hash map (hence its index). Where
     * a control would not be the first, it gets no tests, so that PIT leaves it out; the first unit always has one.
     */
    static final class Controls implements ProjectMutationInterceptor {

        private static final String CONTROL = "!ralph.control";

        private final int unit;
        private final boolean isControlled;

        Controls(int unit, boolean isControlled) {
            this.unit = unit;
            this.isControlled = isControlled;
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
            Thread alive = new Thread(Controls::sayThatMutantsRun);
            alive.setDaemon(true);
            alive.start();
            Map<ClassName, List<MutationDetails>> classes = new HashMap<>();
            List<MutationDetails> all = new ArrayList<>(found);
            all.sort(Comparator.comparing(MutationDetails::getId));
            all.forEach(mutant -> classes.computeIfAbsent(mutant.getClassName(), name -> new ArrayList<>()).add(mutant));
            System.out.println("ralph: mutants " + all.size());
            all.clear();
            classes.values().forEach(mutants -> all.addAll(isControlled ? withControls(mutants) : mutants));
            return all;
        }

        /** A mutant may keep PIT silent for as long as all of its tests take; without mutation a silent test hangs. */
        private static void sayThatMutantsRun() {
            try {
                while (true) {
                    Thread.sleep(1_000);
                    System.out.println("ralph: mutants run");
                }
            } catch (InterruptedException end) {
                Thread.currentThread().interrupt();
            }
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
                Set<TestInfo> tests = new LinkedHashSet<>();
                (unit == 1 ? mutants : together).forEach(mutant -> tests.addAll(mutant.getTestsInOrder()));
                Map<MutationDetails, Boolean> order = new HashMap<>();
                together.forEach(mutant -> order.put(mutant, true));
                MutationDetails first = order.keySet().iterator().next();
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
            for (int index = 0;; index++) {
                MutationIdentifier id = new MutationIdentifier(at, index, mutator);
                MutationDetails control = new MutationDetails(id, of.getFilename(), "", 0, 0);
                int hash = control.hashCode();
                if (((hash ^ hash >>> 16) & buckets - 1) == 0) {
                    return control;
                }
            }
        }
    }

    /** Takes the controls out of the results and notes what became of each: its class, its status, and the test that failed, if one did. */
    public static final class ControlResults implements MutationResultInterceptor {

        @Override
        public Collection<ClassMutationResults> modify(Collection<ClassMutationResults> results) {
            List<ClassMutationResults> kept = new ArrayList<>();
            for (ClassMutationResults ofClass : results) {
                List<MutationResult> mutants = new ArrayList<>();
                for (MutationResult result : ofClass.getMutations()) {
                    if (!Controls.isControl(result.getDetails().getId())) {
                        mutants.add(result);
                    } else if (result.getStatus() != DetectionStatus.NO_COVERAGE) {
                        ResultsFile.CONTROLS.add(line(result));
                    }
                }
                if (!mutants.isEmpty()) {
                    kept.add(new ClassMutationResults(mutants));
                }
            }
            return kept;
        }

        private static String line(MutationResult control) {
            String type = "";
            String failed = "";
            for (TestInfo test : control.getDetails().getTestsInOrder()) {
                if (control.getKillingTest().filter(test.getName()::equals).isPresent()) {
                    type = TestInfo.toDefiningClassName().apply(test).asJavaName();
                    failed = test.getName().substring(test.getName().startsWith(type + ".") ? type.length() + 1 : 0);
                }
            }
            return ResultsFile.line("C", control.getDetails().getClassName().asJavaName(), control.getStatus(), type, failed);
        }
    }

    /** The mutant's identity without its indexes, as ralph names it. */
    static String key(MutationDetails mutant) {
        return mutant.getClassName().asJavaName() + "\t" + mutant.getMethod() + "\t"
            + mutant.getId().getLocation().getMethodDesc() + "\t" + mutant.getMutator();
    }

    static String indexes(MutationDetails mutant) {
        List<String> indexes = new ArrayList<>();
        for (Integer index : mutant.getId().getIndexes()) {
            indexes.add(index.toString());
        }
        return String.join(",", indexes);
    }

    /** Output format {@code RALPH}: a line for each mutant. */
    public static final class Mutants extends Part implements MutationResultListenerFactory, MutationResultListener {

        private static final int MOST_NAMES = 5;

        @Override
        public MutationResultListener getListener(Properties properties, ListenerArguments arguments) {
            return this;
        }

        @Override
        public String name() {
            return "RALPH";
        }

        @Override
        public void runStart() {
        }

        @Override
        public void handleMutationResult(ClassMutationResults results) {
            for (MutationResult result : results.getMutations()) {
                MutationDetails mutant = result.getDetails();
                Set<String> classes = new TreeSet<>();
                if (!result.getStatus().isDetected()) {
                    mutant.getTestsInOrder().forEach(test -> classes.add(TestInfo.toDefiningClassName().apply(test).asJavaName()));
                }
                List<String> names = new ArrayList<>(classes).subList(0, Math.min(MOST_NAMES, classes.size()));
                ResultsFile.MUTANTS.add(ResultsFile.line("M", mutant.getClassName().asJavaName(), mutant.getMethod(),
                    mutant.getId().getLocation().getMethodDesc(), mutant.getMutator(), indexes(mutant), mutant.getFilename(),
                    mutant.getLineNumber(), result.getStatus(), result.getKillingTest().orElse(""), mutant.getDescription(),
                    isInitial(mutant) ? "initial" : "", classes.size(), String.join(",", names)));
            }
        }

        @Override
        public void runEnd() {
            ResultsFile.stage = "done";
        }
    }

    /** A class's name up to its first dollar sign. */
    static String topLevel(String name) {
        return name.replaceAll("\\$.*", "");
    }

    /** Notes how each test ended without a mutation, and for a map which classes it executed. */
    public static final class Tests extends Part implements TestStatListenerFactory, TestStatListener {

        private long begin;
        private final Map<String, Integer> numbers = new HashMap<>();
        private final Map<String, BitSet> executed = new TreeMap<>();
        private boolean isOver;

        @Override
        public TestStatListener createTestListener(ResultOutputStrategy files) {
            begin = System.nanoTime();
            return this;
        }

        @Override
        public void accept(CoverageResult result) {
            Description test = result.getTestUnitDescription();
            String type = test.getFirstTestClass();
            ResultsFile.TESTS.add(
                ResultsFile.line("T", type, test.getName(), result.isGreenTest() ? "green" : "red", result.getExecutionTime()));
            isOver |= !result.isGreenTest() && Input.OF_RUN.accountable.contains(topLevel(type));
            int number = numbers.computeIfAbsent(topLevel(type), unused -> numbers.size());
            if (Input.OF_RUN.options.contains("map")) {
                for (BlockLocation block : result.getCoverage()) {
                    String code = topLevel(block.getLocation().getClassName().asJavaName());
                    executed.computeIfAbsent(code, unused -> new BitSet()).set(number);
                }
            }
        }

        @Override
        public List<String> messages() {
            return List.of();
        }

        @Override
        public void end() {
            executed.forEach((code, tests) ->
                ResultsFile.EXECUTED.add(ResultsFile.line("X", code, tests.toString().replaceAll("[{} ]", ""))));
            ResultsFile.millis = (System.nanoTime() - begin) / 1_000_000;
            ResultsFile.stage = "mutants";
            if (isOver) {
                // Mutants could not change the verdict.
                throw new IllegalStateException("ralph: a test of the changed classes fails without any mutation");
            }
        }
    }

    /**
     * Runs tests of JUnit 3. Where a mutant keeps their class from being made, PIT finds nothing to run and takes the tests for skipped;
     * JUnit 3 skips no test, so they have failed.
     */
    public static final class JUnit3Factory extends Part implements TestPluginFactory {

        @Override
        public Configuration createTestFrameworkConfiguration(TestGroupConfig groups, ClassByteArraySource source,
                Collection<String> excludedRunners, Collection<String> includedMethods) {
            Configuration own =
                new JUnitTestPlugin().createTestFrameworkConfiguration(groups, source, excludedRunners, includedMethods);
            return own instanceof NullConfiguration ? own : new JUnit3(own);
        }

        @Override
        public String name() {
            return "ralph-junit3";
        }
    }

    static final class JUnit3 implements Configuration {

        private final Configuration own;

        JUnit3(Configuration own) {
            this.own = own;
        }

        /** Just before PIT's own. */
        @Override
        public int priority() {
            return own.priority() - 1;
        }

        @Override
        public TestUnitFinder testUnitFinder() {
            return (type, listener) -> {
                List<TestUnit> units = new ArrayList<>();
                if (isTestCase(type)) {
                    own.testUnitFinder().findTestUnits(type, listener).forEach(unit -> units.add(failing(unit)));
                }
                return units;
            };
        }

        private static boolean isTestCase(Class<?> type) {
            return type != null && (type.getName().equals("junit.framework.TestCase") || isTestCase(type.getSuperclass()));
        }

        private static TestUnit failing(TestUnit unit) {
            return new TestUnit() {

                @Override
                public void execute(ResultCollector results) {
                    Class<?>[] collector = {ResultCollector.class};
                    unit.execute((ResultCollector) Proxy.newProxyInstance(RalphPlugin.class.getClassLoader(), collector,
                        (proxy, method, arguments) -> {
                            if (method.getName().equals("notifySkipped")) {
                                results.notifyEnd((Description) arguments[0], new AssertionError("the test class cannot be made"));
                                return null;
                            }
                            try {
                                return method.invoke(results, arguments);
                            } catch (InvocationTargetException error) {
                                throw error.getCause();
                            }
                        }));
                }

                @Override
                public Description getDescription() {
                    return unit.getDescription();
                }
            };
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
}
