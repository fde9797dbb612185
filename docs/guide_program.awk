# SPDX-License-Identifier: MIT
# guide_program.awk -- writes the first complete program of guide.md to the file `out`.
/^```c$/ { inside = 1; body = ""; next }
inside && /^```$/ {
    inside = 0
    if (body ~ /int main\(/) {
        printf "%s", body > out
        found = 1
        exit
    }
    next
}
inside { body = body $0 "\n" }
END { exit !found }
