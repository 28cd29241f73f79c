package ralph.pit;

import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreeScanner;
import java.io.IOException;
import java.io.InputStream;
import java.io.Writer;
import java.lang.instrument.ClassFileTransformer;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.Diagnostic;
import javax.tools.JavaCompiler;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.JumpInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.pitest.bytecode.analysis.ClassTree;
import org.pitest.bytecode.analysis.MethodTree;
import org.pitest.classinfo.ClassByteArraySource;
import org.pitest.classinfo.ClassName;
import org.pitest.classpath.CodeSource;
import org.pitest.coverage.BlockLocation;
import org.pitest.coverage.CoverageDatabase;
import org.pitest.coverage.CoverageResult;
import org.pitest.coverage.TestInfo;
import org.pitest.coverage.TestStatListener;
import org.pitest.coverage.TestStatListenerFactory;
import org.pitest.help.PitHelpError;
import org.pitest.junit.JUnitTestPlugin;
import org.pitest.junit.NullConfiguration;
import org.pitest.mutationtest.ClassMutationResults;
import org.pitest.mutationtest.DetectionStatus;
import org.pitest.mutationtest.EngineArguments;
import org.pitest.mutationtest.ListenerArguments;
import org.pitest.mutationtest.MutationEngineFactory;
import org.pitest.mutationtest.MutationResult;
import org.pitest.mutationtest.MutationResultInterceptor;
import org.pitest.mutationtest.MutationResultListener;
import org.pitest.mutationtest.MutationResultListenerFactory;
import org.pitest.mutationtest.build.DefaultTestPrioritiserFactory;
import org.pitest.mutationtest.build.InterceptorParameters;
import org.pitest.mutationtest.build.InterceptorType;
import org.pitest.mutationtest.build.MutationInterceptor;
import org.pitest.mutationtest.build.MutationInterceptorFactory;
import org.pitest.mutationtest.build.ProjectMutationInterceptor;
import org.pitest.mutationtest.build.ProjectMutationInterceptorFactory;
import org.pitest.mutationtest.build.TestPrioritiser;
import org.pitest.mutationtest.build.TestPrioritiserFactory;
import org.pitest.mutationtest.build.intercept.annotations.ExcludedAnnotationInterceptorFactory;
import org.pitest.mutationtest.build.intercept.javafeatures.RecordFilterFactory;
import org.pitest.mutationtest.build.intercept.staticinitializers.StaticInitializerInterceptorFactory;
import org.pitest.mutationtest.config.ReportOptions;
import org.pitest.mutationtest.engine.Location;
import org.pitest.mutationtest.engine.Mutant;
import org.pitest.mutationtest.engine.Mutater;
import org.pitest.mutationtest.engine.MutationDetails;
import org.pitest.mutationtest.engine.MutationEngine;
import org.pitest.mutationtest.engine.MutationIdentifier;
import org.pitest.mutationtest.engine.gregor.config.GregorEngineFactory;
import org.pitest.mutationtest.environment.TransformationPlugin;
import org.pitest.plugin.Feature;
import org.pitest.reloc.asm.ClassReader;
import org.pitest.reloc.asm.ClassWriter;
import org.pitest.testapi.Configuration;
import org.pitest.testapi.Description;
import org.pitest.testapi.ResultCollector;
import org.pitest.testapi.TestGroupConfig;
import org.pitest.testapi.TestPluginFactory;
import org.pitest.testapi.TestSuiteFinder;
import org.pitest.testapi.TestUnit;
import org.pitest.testapi.TestUnitFinder;
import org.pitest.util.ResultOutputStrategy;

/**
 * What ralph adds to PIT: mutants can be narrowed to a list, no written code is hidden, controls show whether a failing test is a kill,
 * survivors are reported with the tests that reach them, and a map shows which tests execute what. Ralph compiles this once for each
 * version of PIT with the project's own JDK.
 */
public final class RalphPlugin {

    private RalphPlugin() {
    }

    /** Keeps the mutants that the file named by the system property {@code ralph.keep} lists. */
    public static final class KeepFactory implements MutationInterceptorFactory {

        @Override
        public MutationInterceptor createInterceptor(InterceptorParameters params) {
            Found.count(0, params.data());
            return new Keep(System.getProperty("ralph.keep"), params.data());
        }

        @Override
        public Feature provides() {
            return Feature.named("ralphkeep").withOnByDefault(true).withDescription(description());
        }

        @Override
        public String description() {
            return "Mutants that ralph asked for";
        }
    }

    /**
     * Three kinds of lines, fields separated by tabs: {@code C class} keeps the mutants of a class and those nested in it;
     * {@code L folder/File.java first last} those on these lines; {@code M class method descriptor mutator 1,2,3} one mutant.
     * With several kinds a mutant must be kept by each. Before PIT has merged the copies of an inlined finally block a mutant has part of
     * the indexes that its report will give: hence a subset suffices.
     */
    static final class Keep implements MutationInterceptor {

        private final Set<String> classes = new HashSet<>();
        private final Map<String, List<int[]>> lines = new HashMap<>();
        private final Map<String, List<Set<Integer>>> mutants = new HashMap<>();
        private final boolean all;
        private final ReportOptions options;
        private String folder = "";

        Keep(String file, ReportOptions options) {
            this.options = options;
            all = file == null;
            if (all) {
                return;
            }
            try {
                for (String line : Files.readAllLines(Paths.get(file), StandardCharsets.UTF_8)) {
                    String[] parts = line.split("\t", -1);
                    if (parts.length == 2 && parts[0].equals("C")) {
                        classes.add(parts[1]);
                    } else if (parts.length == 4 && parts[0].equals("L")) {
                        int[] range = {Integer.parseInt(parts[2]), Integer.parseInt(parts[3])};
                        lines.computeIfAbsent(parts[1], key -> new ArrayList<>()).add(range);
                    } else if (parts.length == 6 && parts[0].equals("M")) {
                        Set<Integer> indexes = new HashSet<>();
                        for (String index : parts[5].split(",")) {
                            indexes.add(Integer.valueOf(index));
                        }
                        String key = String.join("\t", Arrays.asList(parts).subList(1, 5));
                        mutants.computeIfAbsent(key, unused -> new ArrayList<>()).add(indexes);
                    } else {
                        throw new IllegalStateException("ralph: bad line in " + file + ": " + line);
                    }
                }
            } catch (IOException error) {
                throw new IllegalStateException("ralph: " + file + " cannot be read", error);
            }
        }

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
            if (all) {
                Found.count(found.size(), options);
                return found;
            }
            Collection<MutationDetails> kept = new ArrayList<>();
            for (MutationDetails mutant : found) {
                String type = mutant.getClassName().asJavaName();
                boolean isOfClass = classes.isEmpty() || classes.contains(type) || classes.contains(topLevel(type));
                if (isOfClass && (lines.isEmpty() || isOnLine(mutant)) && (mutants.isEmpty() || isListed(mutant))) {
                    kept.add(mutant);
                }
            }
            Found.count(kept.size(), options);
            return kept;
        }

        private boolean isOnLine(MutationDetails mutant) {
            int line = mutant.getLineNumber();
            List<int[]> ranges = lines.getOrDefault(folder + mutant.getFilename(), List.of());
            return ranges.stream().anyMatch(range -> range[0] <= line && line <= range[1]);
        }

        private boolean isListed(MutationDetails mutant) {
            Collection<Integer> indexes = mutant.getId().getIndexes();
            return mutants.getOrDefault(key(mutant), List.of()).stream().anyMatch(set -> set.containsAll(indexes));
        }

        @Override
        public void end() {
        }
    }

    /** Writes at PIT's end how many mutants it saw before its filters: only 0 of them is nothing to mutate. */
    static final class Found {

        private static final AtomicLong COUNT = new AtomicLong(-1);

        static void count(int more, ReportOptions options) {
            if (COUNT.compareAndSet(-1, 0)) {
                Path file = Paths.get(options.getReportDir(), "found.txt");
                Runtime.getRuntime().addShutdownHook(new Thread(() -> write(file)));
            }
            COUNT.addAndGet(more);
        }

        private static void write(Path file) {
            try {
                Files.createDirectories(file.getParent());
                Files.writeString(file, COUNT + "\n");
            } catch (IOException error) {
                System.err.println("ralph: " + file + " cannot be written: " + error);
            }
        }
    }

    /**
     * In the place of those filters of PIT that hide code which somebody wrote: what an annotation or a record's
     * first line hides is left out only if the source does not declare it (a processor or the compiler made it); of a
     * call of a logger only the call itself, and the question whether it logs; of a static initialiser nothing.
     */
    public static final class WrittenFactory implements MutationInterceptorFactory {

        @Override
        public MutationInterceptor createInterceptor(InterceptorParameters params) {
            return new Written(params);
        }

        @Override
        public Feature provides() {
            return Feature.named("ralphwritten").withOnByDefault(true).withDescription(description());
        }

        @Override
        public String description() {
            return "No mutants but those of written code";
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
                        // It has been compiled, so it is read in another encoding here: nothing is known of it.
                        return Set.of();
                    }
                } catch (IOException error) {
                    throw new IllegalStateException("ralph: " + source + " cannot be read", error);
                }
            }
            return names;
        }

        /** The source may be in another encoding than the one that it is read in: what is not ASCII is not compared. */
        static String spelled(String name) {
            return name.replaceAll("[^\\x00-\\x7f]+", "?");
        }

        @Override
        public void end() {
        }
    }

    /** A source in UTF-8; in any other encoding each byte that is not ASCII is read as some letter. */
    static final class Source extends SimpleJavaFileObject {

        private final String text;

        Source(URI uri, byte[] bytes) {
            super(uri, Kind.SOURCE);
            text = decoded(bytes);
        }

        private static String decoded(byte[] bytes) {
            try {
                return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
            } catch (CharacterCodingException error) {
                return new String(bytes, StandardCharsets.ISO_8859_1).replaceAll("[^\\x00-\\x7f]", "\u00e9");
            }
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
    public static final class PrioritiserFactory implements TestPrioritiserFactory {

        @Override
        public TestPrioritiser makeTestPrioritiser(Properties properties, CodeSource code, CoverageDatabase coverage) {
            TestPrioritiser own = new DefaultTestPrioritiserFactory().makeTestPrioritiser(properties, code, coverage);
            return mutant -> isInitial(mutant) && !mutant.getMethod().startsWith("lambda$")
                ? new ArrayList<>()
                : own.assignTests(mutant);
        }

        @Override
        public String description() {
            return "No tests for what initialises a class";
        }
    }

    static boolean isInitial(MutationDetails mutant) {
        return Written.INITIAL.contains(mutant.getId().getLocation());
    }

    /** PIT's own engine, and beside it the control: a mutation that leaves its class as it is. */
    public static final class EngineFactory implements MutationEngineFactory {

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

        @Override
        public String description() {
            return "PIT's engine with controls";
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
    public static final class Records implements TransformationPlugin {

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

        @Override
        public String description() {
            return "Records as they were compiled";
        }
    }

    /**
     * Says how many mutants will be run, once all filters have been applied, and that they run; puts the controls beside them, unless
     * the system property {@code ralph.controls} is set.
     */
    public static final class ControlsFactory implements ProjectMutationInterceptorFactory {

        @Override
        public ProjectMutationInterceptor createInterceptor(InterceptorParameters params) {
            return new Controls(params.data().getMutationUnitSize(), System.getProperty("ralph.controls") == null);
        }

        @Override
        public Feature provides() {
            return Feature.named("ralphcontrols").withOnByDefault(true).withDescription(description());
        }

        @Override
        public String description() {
            return "How many mutants there are, and controls beside them";
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

    /** Takes the controls out of the results, for {@link Tests} to report. */
    public static final class Results implements MutationResultInterceptor {

        static final List<MutationResult> OF_CONTROLS = new ArrayList<>();

        @Override
        public Collection<ClassMutationResults> modify(Collection<ClassMutationResults> results) {
            List<ClassMutationResults> kept = new ArrayList<>();
            for (ClassMutationResults ofClass : results) {
                List<MutationResult> mutants = new ArrayList<>();
                for (MutationResult result : ofClass.getMutations()) {
                    (Controls.isControl(result.getDetails().getId()) ? OF_CONTROLS : mutants).add(result);
                }
                if (!mutants.isEmpty()) {
                    kept.add(new ClassMutationResults(mutants));
                }
            }
            return kept;
        }
    }

    /** The mutant's identity without its indexes, as the XML report gives it. */
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

    /** Output format {@code RALPH}: the test classes that reach each mutant that was not killed, and what became of the controls. */
    public static final class TestsFactory implements MutationResultListenerFactory {

        @Override
        public MutationResultListener getListener(Properties properties, ListenerArguments arguments) {
            ResultOutputStrategy files = arguments.getOutputStrategy();
            return new Tests(files.createWriterForFile("reaching-tests.tsv"), files.createWriterForFile("controls.tsv"));
        }

        @Override
        public String name() {
            return "RALPH";
        }

        @Override
        public String description() {
            return "Tests that reach survivors";
        }
    }

    static final class Tests implements MutationResultListener {

        private static final int MOST_NAMES = 5;
        private final Writer out;
        private final Writer controls;

        Tests(Writer out, Writer controls) {
            this.out = out;
            this.controls = controls;
        }

        @Override
        public void runStart() {
        }

        @Override
        public void handleMutationResult(ClassMutationResults results) {
            try {
                for (MutationResult result : results.getMutations()) {
                    if (!result.getStatus().isDetected()) {
                        write(result.getDetails());
                    }
                }
            } catch (IOException error) {
                throw new IllegalStateException("ralph: the tests of survivors cannot be written", error);
            }
        }

        private void write(MutationDetails mutant) throws IOException {
            Set<String> classes = new TreeSet<>();
            for (TestInfo test : mutant.getTestsInOrder()) {
                classes.add(TestInfo.toDefiningClassName().apply(test).asJavaName());
            }
            List<String> names = new ArrayList<>(classes).subList(0, Math.min(MOST_NAMES, classes.size()));
            out.write(key(mutant) + "\t" + indexes(mutant) + "\t" + classes.size() + "\t"
                + String.join(",", names) + (isInitial(mutant) ? "\tinitial\n" : "\t\n"));
        }

        /** A control's class, its status, and the test that failed, if one did, as PIT's log would describe it. */
        private void write(MutationResult control) throws IOException {
            String failed = "";
            for (TestInfo test : control.getDetails().getTestsInOrder()) {
                if (control.getKillingTest().filter(test.getName()::equals).isPresent()) {
                    String name = TestInfo.toDefiningClassName().apply(test).asJavaName();
                    String inside = test.getName().substring(test.getName().startsWith(name + ".") ? name.length() + 1 : 0);
                    failed = "Description [testClass=" + name + ", name=" + inside + "]";
                }
            }
            controls.write(control.getDetails().getClassName().asJavaName() + "\t" + control.getStatus() + "\t"
                + failed.replaceAll("\\s+", " ") + "\n");
        }

        @Override
        public void runEnd() {
            try {
                for (MutationResult control : Results.OF_CONTROLS) {
                    if (control.getStatus() != DetectionStatus.NO_COVERAGE) {
                        write(control);
                    }
                }
                controls.close();
                out.close();
            } catch (IOException error) {
                throw new IllegalStateException("ralph: the tests of survivors cannot be written", error);
            }
        }
    }

    /** A class's name up to its first dollar sign. */
    static String topLevel(String name) {
        return name.replaceAll("\\$.*", "");
    }

    /** With the system property {@code ralph.map}, writes which test classes execute which classes. */
    public static final class MapFactory implements TestStatListenerFactory {

        @Override
        public TestStatListener createTestListener(ResultOutputStrategy files) {
            return new Touched(System.getProperty("ralph.map") == null ? null : files.createWriterForFile("touched.tsv"));
        }

        @Override
        public Feature provides() {
            return Feature.named("ralphmap").withOnByDefault(true).withDescription(description());
        }

        @Override
        public String description() {
            return "Which tests execute what";
        }
    }

    /** {@code T test-class green|red}, numbered from 0; {@code X class 0,4,7}: the tests that execute it; {@code E} at the end. */
    static final class Touched implements TestStatListener {

        private final Map<String, Boolean> tests = new LinkedHashMap<>();
        private final Map<String, Integer> numbers = new HashMap<>();
        private final Map<String, BitSet> classes = new HashMap<>();
        private final Writer out;

        Touched(Writer out) {
            this.out = out;
        }

        @Override
        public void accept(CoverageResult result) {
            if (out == null) {
                return;
            }
            String test = topLevel(result.getTestUnitDescription().getFirstTestClass());
            tests.merge(test, result.isGreenTest(), Boolean::logicalAnd);
            int number = numbers.computeIfAbsent(test, unused -> numbers.size());
            for (BlockLocation block : result.getCoverage()) {
                String type = topLevel(block.getLocation().getClassName().asJavaName());
                classes.computeIfAbsent(type, unused -> new BitSet()).set(number);
            }
        }

        @Override
        public List<String> messages() {
            return List.of();
        }

        @Override
        public void end() {
            if (out == null) {
                return;
            }
            try (Writer file = out) {
                for (Map.Entry<String, Boolean> test : tests.entrySet()) {
                    file.write("T\t" + test.getKey() + "\t" + (test.getValue() ? "green" : "red") + "\n");
                }
                for (Map.Entry<String, BitSet> type : classes.entrySet()) {
                    file.write("X\t" + type.getKey() + "\t" + type.getValue().toString().replaceAll("[{} ]", "") + "\n");
                }
                file.write("E\n");
            } catch (IOException error) {
                throw new IllegalStateException("ralph: the map cannot be written", error);
            }
        }
    }

    /**
     * Runs tests of JUnit 3. Where a mutant keeps their class from being made, PIT finds nothing to run and takes the tests for skipped;
     * JUnit 3 skips no test, so they have failed.
     */
    public static final class JUnit3Factory implements TestPluginFactory {

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

        @Override
        public String description() {
            return "Tests of JUnit 3";
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
                    unit.execute(new ResultCollector() {

                        @Override
                        public void notifyEnd(Description test, Throwable error) {
                            results.notifyEnd(test, error);
                        }

                        @Override
                        public void notifyEnd(Description test) {
                            results.notifyEnd(test);
                        }

                        @Override
                        public void notifyStart(Description test) {
                            results.notifyStart(test);
                        }

                        @Override
                        public void notifySkipped(Description test) {
                            results.notifyEnd(test, new AssertionError("the test class cannot be made"));
                        }

                        @Override
                        public boolean shouldExit() {
                            return results.shouldExit();
                        }
                    });
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
