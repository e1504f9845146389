# Sums the common form: lines `PASS name`, `FAIL name: why`, `SKIP name: why`; a ctest prefix
# ("12: ") is taken off. Prints failures and skips again and one final line. Exit 1 when something
# failed or nothing ran.
{ sub(/^ *[0-9]+: /, "") }
/^PASS / { passed++ }
/^SKIP / { skips[++skipped] = $0 }
/^FAIL / { failures[++failed] = $0 }
END {
    for (i = 1; i <= skipped; i++) print skips[i]
    for (i = 1; i <= failed; i++) print failures[i]
    if (passed + failed == 0) print "nothing ran"
    line = sprintf("%d passed, %d failed", passed, failed)
    if (skipped) line = line sprintf(", %d skipped", skipped)
    print line
    exit failed > 0 || passed == 0
}
