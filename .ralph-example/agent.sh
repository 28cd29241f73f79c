#!/bin/sh
# A scripted stand-in for a coding agent: the same answers each time, no model, no network.
#
# ralph starts it once for each stage that an agent does: the prompt on standard input, the role and
# the task in the environment, the workspace as working directory. It behaves as real agents do: its
# first tests for task 2 look complete and are weak, its worker claims a verdict and ticks a box
# that is not its own, and it repairs what a gate or a reviewer names in progress.txt.
set -eu

cd "${RALPH_WORKSPACE:?ralph sets it}"
prompt_lines=$(wc -l)   # reads all of standard input
echo "agent: ${RALPH_ROLE:?} for ${RALPH_TASK:-FINAL}, prompt of $((prompt_lines)) lines"

export GIT_AUTHOR_NAME='Example Agent' GIT_AUTHOR_EMAIL='agent@example.org'
export GIT_COMMITTER_NAME='Example Agent' GIT_COMMITTER_EMAIL='agent@example.org'
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1   # no hooks and signatures of the person's

main=src/orders/src/main/java/org/example/orders
tests=src/orders/src/test/java/org/example/orders

commit() {   # package, title
    git -C "src/$1" add --all
    git -C "src/$1" commit --quiet --message "example: $2"
    echo "agent: committed in $1: $2"
}

add_to_class() {   # file; puts standard input before the last line, which is the closing brace
    sed '$d' "$1" > "$1.new"
    cat >> "$1.new"
    echo '}' >> "$1.new"
    mv "$1.new" "$1"
}

is_stub() { grep -q UnsupportedOperationException "$1"; }

asked_for() {   # a text that a reviewer or a gate left in progress.txt
    [ -f progress.txt ] && grep -q "$1" progress.txt
}

nothing_known() {
    echo "agent: does not know what to do for ${RALPH_TASK:-FINAL}" >&2
    exit 1
}

# --- task 1: the total of an order line ---------------------------------------------------------

line_total_tests() {
    mkdir -p "$main" "$tests"
    cat > "$main/LineTotal.java" <<'JAVA'
package org.example.orders;

/** The total of an order line. */
public final class LineTotal {
    private LineTotal() {}

    public static long cents(int quantity, long unitCents) {
        throw new UnsupportedOperationException("not written yet");
    }
}
JAVA
    cat > "$tests/LineTotalTest.java" <<'JAVA'
package org.example.orders;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

class LineTotalTest {
    // R1.1
    @Test
    void multipliesQuantityAndPrice() {
        assertEquals(750, LineTotal.cents(3, 250));
    }

    // R1.2
    @Test
    void refusesAQuantityBelowOne() {
        assertEquals(250, LineTotal.cents(1, 250));
        assertThrows(IllegalArgumentException.class, () -> LineTotal.cents(0, 250));
    }
}
JAVA
    commit orders 'failing tests for the total of a line'
}

line_total() {
    cat > "$main/LineTotal.java" <<'JAVA'
package org.example.orders;

/** The total of an order line. */
public final class LineTotal {
    private LineTotal() {}

    /**
     * @param quantity number of pieces, 1 or more
     * @param unitCents price of one piece in cents, 0 or more
     * @return the total in cents
     */
    public static long cents(int quantity, long unitCents) {
        if (quantity < 1) {
            throw new IllegalArgumentException("quantity below 1: " + quantity);
        }
        if (unitCents < 0) {
            throw new IllegalArgumentException("price below 0: " + unitCents);
        }
        return Math.multiplyExact(unitCents, quantity);
    }
}
JAVA
    commit orders 'the total of a line'
}

line_total_price_test() {
    add_to_class "$tests/LineTotalTest.java" <<'JAVA'

    // R1.3
    @Test
    void allowsAFreeItemAndRefusesANegativePrice() {
        assertEquals(0, LineTotal.cents(2, 0));
        assertThrows(IllegalArgumentException.class, () -> LineTotal.cents(2, -1));
    }
JAVA
    commit orders 'a test for free items'
}

# --- task 2: the shipping cost ------------------------------------------------------------------

shipping_tests() {   # every line of Shipping will be covered, every requirement named; no limit is hit
    mkdir -p "$main" "$tests"
    cat > "$main/Shipping.java" <<'JAVA'
package org.example.orders;

/** What it costs to ship an order. */
public final class Shipping {
    private Shipping() {}

    public static long cents(long orderCents, int grams) {
        throw new UnsupportedOperationException("not written yet");
    }
}
JAVA
    cat > "$tests/ShippingTest.java" <<'JAVA'
package org.example.orders;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class ShippingTest {
    // R2.1
    @Test
    void aLightOrderIsALetter() {
        assertEquals(190, Shipping.cents(2_000, 100));
    }

    // R2.2
    @Test
    void aMediumOrderIsAParcel() {
        assertEquals(490, Shipping.cents(2_000, 2_000));
    }

    // R2.3
    @Test
    void aHeavyOrderCostsMore() {
        assertTrue(Shipping.cents(2_000, 9_000) > 790);
    }

    // R2.4
    @Test
    void aLargeOrderShipsFree() {
        assertEquals(0, Shipping.cents(20_000, 2_000));
    }

    // R2.5
    @Test
    void aNegativeWeightIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> Shipping.cents(2_000, -100));
    }
}
JAVA
    commit orders 'failing tests for the shipping cost'
}

shipping() {
    cat > "$main/Shipping.java" <<'JAVA'
package org.example.orders;

/** What it costs to ship an order. */
public final class Shipping {
    private Shipping() {}

    /**
     * @param orderCents value of the order in cents
     * @param grams weight of the order in grams, 1 or more
     * @return the cost in cents
     */
    public static long cents(long orderCents, int grams) {
        if (grams < 1) {
            throw new IllegalArgumentException("weight below 1 g: " + grams);
        }
        if (orderCents >= 10_000 && grams <= 5_000) {
            return 0;
        }
        if (grams <= 500) {
            return 190;
        }
        if (grams <= 5_000) {
            return 490;
        }
        int startedKilos = (grams - 5_000 + 999) / 1_000;
        return 790 + startedKilos * 150L;
    }
}
JAVA
    commit orders 'the shipping cost'
    # What agents do, and what counts for nothing: a verdict that no gate gave, and a tick.
    echo 'PITEST PASS — 100% (18/18)'
    sed 's/^- \[ \] 2\.PITEST/- [x] 2.PITEST/' tasks.md > tasks.md.new
    mv tasks.md.new tasks.md
}

shipping_limit_tests() {
    echo 'agent: survivors named in progress.txt:'
    grep 'Shipping\.java:' progress.txt || :
    add_to_class "$tests/ShippingTest.java" <<'JAVA'

    // R2.1, R2.2, R2.5: both sides of each limit
    @Test
    void eachWeightLimitHoldsToTheGram() {
        assertThrows(IllegalArgumentException.class, () -> Shipping.cents(2_000, 0));
        assertEquals(190, Shipping.cents(2_000, 1));
        assertEquals(190, Shipping.cents(2_000, 500));
        assertEquals(490, Shipping.cents(2_000, 501));
        assertEquals(490, Shipping.cents(2_000, 5_000));
        assertEquals(940, Shipping.cents(2_000, 5_001));
    }

    // R2.3
    @Test
    void eachStartedKilogramCosts() {
        assertEquals(940, Shipping.cents(2_000, 6_000));
        assertEquals(1_090, Shipping.cents(2_000, 6_001));
    }

    // R2.4
    @Test
    void freeShippingBeginsAndEndsAtItsLimits() {
        assertEquals(490, Shipping.cents(9_999, 5_000));
        assertEquals(0, Shipping.cents(10_000, 5_000));
        assertEquals(940, Shipping.cents(10_000, 5_001));
    }
JAVA
    commit orders 'tests on both sides of each limit'
}

# --- task 3: the manual -------------------------------------------------------------------------

tariff() {
    cat > src/manual/tariff.md <<'TEXT'
# Shipping tariff

<!-- R3.1 -->

| weight | cost |
|---|---|
| up to 500 g | 1.90 |
| up to 5 kg | 4.90 |
| above 5 kg | 7.90, and 1.50 for each started kilogram above 5 kg |

Orders of 100.00 or more ship free up to 5 kg.
TEXT
    commit manual 'the shipping tariff'
}

# --- the roles ----------------------------------------------------------------------------------

worker() {
    case $RALPH_TASK in
    1.) if is_stub "$main/LineTotal.java"; then line_total
        elif asked_for 'R1\.3' && ! grep -q 'R1\.3' "$tests/LineTotalTest.java"; then line_total_price_test
        else nothing_known; fi ;;
    2.) if is_stub "$main/Shipping.java"; then shipping
        elif asked_for 'PITEST FAIL' && ! grep -q ToTheGram "$tests/ShippingTest.java"; then shipping_limit_tests
        else nothing_known; fi ;;
    3.) tariff ;;
    *) nothing_known ;;
    esac
}

requirements() {   # the numbers R<1>.* of requirements.md; all numbers without an argument
    sed -n "s/^- \(R${1:-[0-9]*}\.[0-9]*\):.*/\1/p" requirements.md
}

req_reviewer() {
    for number in $(requirements "${RALPH_TASK%%.*}"); do
        if ! grep -r -q -F "$number" src/orders/src/test; then
            echo "RALPH-VERDICT $RALPH_VERDICT_TOKEN: FAIL no test covers $number"
            return
        fi
    done
    echo "RALPH-VERDICT $RALPH_VERDICT_TOKEN: PASS each requirement is named by a test"
}

quality_reviewer() {
    if grep -r -n -E 'TODO|FIXME|UnsupportedOperationException' src/orders/src/main; then
        echo "RALPH-VERDICT $RALPH_VERDICT_TOKEN: FAIL unfinished code, see the lines above"
    else
        echo "RALPH-VERDICT $RALPH_VERDICT_TOKEN: PASS nothing unfinished is left"
    fi
}

validator() {
    {
        echo '# Validation report'
        echo
        echo '| Requirement | Evidence | Status |'
        echo '|---|---|---|'
        for number in $(requirements); do
            evidence=$(grep -r -l -F "$number" src/orders/src/test src/manual | sed 's|.*/||' | sort | paste -s -d ' ' -)
            if [ -n "$evidence" ]; then
                echo "| $number | $evidence | PASS |"
            else
                echo "| $number | none found | UNKNOWN |"
            fi
        done
    } > validation-report.md
    echo 'agent: wrote validation-report.md'
}

case $RALPH_ROLE in
test-writer)
    case $RALPH_TASK in
    1.TEST-FIRST) line_total_tests ;;
    2.TEST-FIRST) shipping_tests ;;
    *) nothing_known ;;
    esac ;;
worker) worker ;;
req-reviewer) req_reviewer ;;
quality-reviewer) quality_reviewer ;;
validator) validator ;;
*) nothing_known ;;
esac
