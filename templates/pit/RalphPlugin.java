package ralph.pit;

import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import org.pitest.bytecode.analysis.ClassTree;
import org.pitest.coverage.TestInfo;
import org.pitest.mutationtest.ClassMutationResults;
import org.pitest.mutationtest.ListenerArguments;
import org.pitest.mutationtest.MutationResult;
import org.pitest.mutationtest.MutationResultListener;
import org.pitest.mutationtest.MutationResultListenerFactory;
import org.pitest.mutationtest.build.InterceptorParameters;
import org.pitest.mutationtest.build.InterceptorType;
import org.pitest.mutationtest.build.MutationInterceptor;
import org.pitest.mutationtest.build.MutationInterceptorFactory;
import org.pitest.mutationtest.build.ProjectMutationInterceptor;
import org.pitest.mutationtest.build.ProjectMutationInterceptorFactory;
import org.pitest.mutationtest.engine.Mutater;
import org.pitest.mutationtest.engine.MutationDetails;
import org.pitest.plugin.Feature;

/**
 * What ralph adds to PIT: mutants can be narrowed to a list, and survivors are reported with the tests that
 * reach them. Ralph compiles this once for each version of PIT with the project's own JDK.
 */
public final class RalphPlugin {

    private RalphPlugin() {
    }

    /** Keeps the mutants that the file named by the system property {@code ralph.keep} lists. */
    public static final class KeepFactory implements MutationInterceptorFactory {

        @Override
        public MutationInterceptor createInterceptor(InterceptorParameters params) {
            return new Keep(System.getProperty("ralph.keep"));
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
     * Two kinds of lines, fields separated by tabs: {@code L folder/File.java first last} keeps the mutants on
     * these lines; {@code M class method descriptor mutator 1,2,3} keeps one mutant. With both kinds a mutant
     * must be kept by both. Before PIT has merged the copies of an inlined finally block a mutant has part of
     * the indexes that its report will give: hence a subset suffices.
     */
    static final class Keep implements MutationInterceptor {

        private final Map<String, List<int[]>> lines = new HashMap<>();
        private final Map<String, List<Set<Integer>>> mutants = new HashMap<>();
        private final boolean all;
        private String folder = "";

        Keep(String file) {
            all = file == null;
            if (all) {
                return;
            }
            try {
                for (String line : Files.readAllLines(Paths.get(file), StandardCharsets.UTF_8)) {
                    String[] parts = line.split("\t", -1);
                    if (parts.length == 4 && parts[0].equals("L")) {
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
                return found;
            }
            Collection<MutationDetails> kept = new ArrayList<>();
            for (MutationDetails mutant : found) {
                if ((lines.isEmpty() || isOnLine(mutant)) && (mutants.isEmpty() || isListed(mutant))) {
                    kept.add(mutant);
                }
            }
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

    /** Says how many mutants will be run, once all filters have been applied. */
    public static final class CountFactory implements ProjectMutationInterceptorFactory {

        @Override
        public ProjectMutationInterceptor createInterceptor(InterceptorParameters params) {
            return new Count();
        }

        @Override
        public Feature provides() {
            return Feature.named("ralphcount").withOnByDefault(true).withDescription(description());
        }

        @Override
        public String description() {
            return "How many mutants there are";
        }
    }

    static final class Count implements ProjectMutationInterceptor {

        @Override
        public InterceptorType type() {
            return InterceptorType.REPORT;
        }

        @Override
        public Collection<MutationDetails> intercept(Collection<MutationDetails> found) {
            System.out.println("ralph: mutants " + found.size());
            return found;
        }
    }

    /** The mutant's identity without its indexes, as the XML report gives it. */
    static String key(MutationDetails mutant) {
        return mutant.getClassName().asJavaName() + "\t" + mutant.getMethod() + "\t"
            + mutant.getId().getLocation().getMethodDesc() + "\t" + mutant.getMutator();
    }

    /** Output format {@code RALPH}: the test classes that reach each mutant that was not killed. */
    public static final class TestsFactory implements MutationResultListenerFactory {

        @Override
        public MutationResultListener getListener(Properties properties, ListenerArguments arguments) {
            return new Tests(arguments.getOutputStrategy().createWriterForFile("reaching-tests.tsv"));
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

        Tests(Writer out) {
            this.out = out;
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
            List<String> indexes = new ArrayList<>();
            for (Integer index : mutant.getId().getIndexes()) {
                indexes.add(index.toString());
            }
            out.write(key(mutant) + "\t" + String.join(",", indexes) + "\t" + classes.size() + "\t"
                + String.join(",", names) + "\n");
        }

        @Override
        public void runEnd() {
            try {
                out.close();
            } catch (IOException error) {
                throw new IllegalStateException("ralph: the tests of survivors cannot be written", error);
            }
        }
    }
}
