# check: shell
# expect: shell.sh:
echo planted
if true; then # planted
