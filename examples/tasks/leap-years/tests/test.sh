#!/bin/bash
for year in 1996 2000 2024; do sh leap.sh "$year" || exit 1; done
for year in 1900 2023 2100; do ! sh leap.sh "$year" || exit 1; done
