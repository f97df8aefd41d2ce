# Parlance: the front door. `make help` lists what there is.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory

SWIFT ?= swift
PREFIX ?= /usr/local
DESTDIR ?=
# What `make run` hands to the program, and what the long tests are given.
ARGS ?=

# Paths are relative, so that a space in the folder's name does no harm.
SCHEMAS := .build/schemas
RELEASE := .build/release
SWIFT_PATHS := Package.swift Sources Tools Tests Template
export GSETTINGS_SCHEMA_DIR := $(CURDIR)/$(SCHEMAS)
# Translations for the program in the build folder.
LOCALE := .build/locale
export TEXTDOMAINDIR := $(CURDIR)/$(LOCALE)
LANGUAGES := $(shell sed 's/\#.*//' po/LINGUAS)
CATALOGS := $(LANGUAGES:%=$(LOCALE)/%/LC_MESSAGES/parlance.mo)

.PHONY: help deps library schemas build release run test test-without-encryption lint docs format bench bench-quick \
	bench-compare bench-peers soak holes fuzz leaks input-methods check-new-app new-app screenshots size-screenshots language-screenshots published-screenshots \
	pictures-diff flatpak flatpak-check deb check-roots install uninstall pot clean

help: ## List the targets
	@printf 'make TARGET, where TARGET is one of\n\n'
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18
	@printf '\nARGS="…" is handed to the program that run, bench, soak and fuzz start.\n'
	@printf 'install and uninstall take PREFIX [$(PREFIX)] and DESTDIR.\n'

# What SwiftPM fetches, too: the first build would do it. build-aux/deps has made sure that Swift is here.
deps: ## Install the packages that are missing, as root or through sudo, fetch sources, and build the encryption library
	@build-aux/deps
	@build-aux/ratchets
	$(SWIFT) package resolve

library: ## Build the encryption library, from crates that it fetches; ENCRYPTION=0 leaves it out of everything
	@build-aux/ratchets

# The groups of build-aux/dependencies that a step needs: installed, or only looked for.
deps-%:
	@build-aux/deps $(subst +, ,$*)
have-%:
	@build-aux/deps --check $(subst +, ,$*)

schemas: $(SCHEMAS)/gschemas.compiled

$(SCHEMAS)/gschemas.compiled: $(wildcard data/*.gschema.xml)
	@mkdir -p $(SCHEMAS) && cp data/*.gschema.xml $(SCHEMAS)/ && glib-compile-schemas --strict $(SCHEMAS)

$(LOCALE)/%/LC_MESSAGES/parlance.mo: po/%.po
	@mkdir -p $(@D) && msgfmt --output-file=$@ $<

.PHONY: catalogs
catalogs: $(CATALOGS)

build: have-build+encryption library schemas $(CATALOGS) ## Build everything, tests too, for debugging
	$(SWIFT) build --build-tests

# With Swift's own libraries inside: it runs where no Swift is installed, and starts faster.
release: have-build+encryption library ## Build the program as it is installed, in .build/release
	$(SWIFT) build -c release --static-swift-stdlib --product parlance $$(build-aux/locale-data $(SWIFT))
	$(SWIFT) build -c release --static-swift-stdlib --product parlance-decode
	$(SWIFT) build -c release --static-swift-stdlib --product parlance-film

# A debug build: it takes a fraction of a release build's time, `make test` goes on from it,
# and the window opens just as fast.
run: deps-build+encryption+run schemas $(CATALOGS) ## Build and start Parlance; without a display, a short scripted conversation
	@build-aux/build-program
	@build-aux/run .build/debug/parlance $(ARGS)

test: deps-build+encryption+run+display+test library schemas $(CATALOGS) ## Build and run every test
	@build-aux/test

# In a folder of its own: another setting there would build all of .build anew.
test-without-encryption: deps-build ## Build with ENCRYPTION=0 in .build-plain, and run the tests that only apply then
	ENCRYPTION=0 $(SWIFT) test --scratch-path .build-plain --disable-xctest --filter WithoutLibraryTests

lint: deps-lint ## Check the style, the architecture and the data files
	@build-aux/lint

docs: have-build ## Build the reference and the articles of the composer, its sessions and its bar, in .build/docs
	$(SWIFT) build --target ComposerGtk
	@build-aux/docs

format: have-build ## Lay out the Swift sources as `make lint` wants them
	$(SWIFT) format --in-place --recursive --parallel $(SWIFT_PATHS)

# Without what debuggers read: valgrind 3.19 takes it for damaged in programs of this size.
COUNTED := -Xlinker --strip-debug

bench: build-bench ## Measure, keep the rows and sum up; ARGS="composer" measures one part
ifneq ($(ARGS),)
	@$(RELEASE)/parlance-bench $(ARGS)
else
	@build-aux/bench $(RELEASE)
endif

bench-quick: build-bench-quick ## Measure in two minutes what is counted in instructions, and the start
	@build-aux/bench --quick $(RELEASE)

bench-compare: ## Compare the rows kept for this commit with those of BASE
	@build-aux/bench --compare $(BASE)

.build/screen-watch.so: build-aux/screen-watch.c
	clang -O2 -shared -fPIC $< -o $@ -lX11 -lXext -lXtst -lXdamage

bench-peers: build-bench-quick deps-test .build/screen-watch.so ## Measure beside Nheko and Dino of Debian 12, by keys and pixels, as root (15 min); ARGS=--fresh makes new accounts
	@if [ "$$(id -u)" != 0 ] || ! build-aux/deps peers; then \
		echo 'bench-peers: skipped: it needs root, and Nheko, Dino and Prosody as Debian 12 has them'; exit 0; fi; \
	build-aux/with-display --size 1280x900 build-aux/bench-peers .build/screen-watch.so .build/empty-window $(RELEASE)/parlance $(ARGS)

.PHONY: build-bench build-bench-quick
build-bench-quick: deps-build+encryption+run+display+bench schemas release
	$(SWIFT) build -c release --static-swift-stdlib --product parlance-bench $(COUNTED)
	clang -O2 $$(pkg-config --cflags libadwaita-1) build-aux/empty-window.c -o .build/empty-window $$(pkg-config --libs libadwaita-1)

build-bench: build-bench-quick deps-homeserver .build/screen-watch.so
	$(SWIFT) build -c release --static-swift-stdlib --product parlance-timeline-bench $(COUNTED)
	$(SWIFT) build -c release --static-swift-stdlib --product parlance-gallery
	$(SWIFT) build -c release --static-swift-stdlib --product parlance-matrix-soak

soak: deps-build+encryption library ## Run the long fault tests
	$(SWIFT) build -c release --static-swift-stdlib --product parlance-store-soak
ifneq ($(ARGS),)
	@$(RELEASE)/parlance-store-soak $(ARGS)
else
# Before the hours: without them the last tests would be skipped.
	@build-aux/ratchets-peers --matrix >/dev/null || { echo 'soak: without matrix-nio its tests would not run' >&2; exit 1; }
	@build-aux/ratchets-peers --sdk >/dev/null || { echo 'soak: without matrix-rust-sdk its tests would not run' >&2; exit 1; }
	@$(RELEASE)/parlance-store-soak kills
	@$(RELEASE)/parlance-store-soak damage
	@$(RELEASE)/parlance-store-soak outbox
	@$(RELEASE)/parlance-store-soak sync
	@$(RELEASE)/parlance-store-soak unread
	$(SWIFT) build -c release --static-swift-stdlib --product parlance-matrix-soak
	@$(RELEASE)/parlance-matrix-soak unread
	@$(RELEASE)/parlance-matrix-soak requests --minutes 10
	@$(RELEASE)/parlance-matrix-soak talk
	@$(RELEASE)/parlance-matrix-soak keys --plant --client-kills 6 --server-kills 0
	@$(RELEASE)/parlance-matrix-soak keys
	$(SWIFT) build --build-tests
	@PARLANCE_HISTORIES=10000 $(SWIFT) test --skip-build --disable-xctest --filter MatrixBackendTests.RandomHistoryTests
	@PARLANCE_CLICKS=10000 build-aux/with-display \
		$(SWIFT) test --skip-build --disable-swift-testing --filter RandomUseTests
	@trap 'build-aux/synapse down --data .build/synapse/trips' EXIT; \
		url=$$(build-aux/synapse up --fresh --data .build/synapse/trips); \
		export PARLANCE_TRIPS=1000 PARLANCE_PEER_MESSAGES=1000 PARLANCE_PEER_KEYS=10000 PARLANCE_HOMESERVER=$$url; \
		PARLANCE_MATRIX_PEER=$$(build-aux/ratchets-peers --matrix); PARLANCE_SDK_PEER=$$(build-aux/ratchets-peers --sdk); \
		export PARLANCE_MATRIX_PEER PARLANCE_SDK_PEER; \
		$(SWIFT) test --skip-build --disable-xctest \
			--filter 'MatrixServerTests.(WrittenTripTests|PeerTests|PeerBackupTests|StrictPeerTests)'
endif

holes: deps-build+encryption library ## Build the tests in a copy, and see those of known holes fail without their checks (15 min)
	@build-aux/check-holes

# What others say to encryption, and the calls of its library, are counted instead of timed, unless ARGS says how long.
STEPS := $(if $(ARGS),,PARLANCE_FUZZ_STEPS=10000000)

fuzz: deps-build+encryption library ## Run the fuzzing of the composer, message bodies, JSON, encryption and pictures, for hours
	@build-aux/fuzz composer $(ARGS)
	@build-aux/fuzz markup $(ARGS)
	@build-aux/fuzz json $(ARGS)
	@$(STEPS) build-aux/fuzz ratchets $(ARGS)
	@for kind in devices identities messages verifications secrets recovery keyfile backup events answers rooms account; do \
		$(STEPS) build-aux/fuzz crypto-$$kind $(ARGS); done
	@for kind in png jpeg gif webp bmp tiff heif; do build-aux/fuzz $$kind $(ARGS); done

leaks: deps-build+encryption+run+display+test+leaks library schemas ## Open, act and close under valgrind's memcheck
	$(SWIFT) build --product parlance-gallery
	@build-aux/leaks .build/debug/parlance-gallery act

input-methods: deps-build+encryption+run+display+test+input-methods library schemas ## Type Korean, Japanese and Chinese through IBus; prints a transcript
	$(SWIFT) build --product parlance
	@build-aux/with-display build-aux/input-methods .build/debug/parlance

new-app: ## Begin a program with the composer: NAME=…, and DIR=… [beside this folder]
	@build-aux/new-app "$(NAME)" $(if $(DIR),"$(DIR)")

check-new-app: deps-build+run+display+test schemas ## Build the app that new-app begins, as its author would, and try its window (1 min)
	@build-aux/with-display build-aux/check-template --build

# At twice the size, as good displays show it, and with the pointer in the corner, where it is over nothing.
screenshots size-screenshots language-screenshots published-screenshots: export GDK_SCALE := 2
DRAW = build-aux/with-display --size 2600x2000 $(IN_LOCALE) sh -c 'xdotool mousemove 2599 1999 && exec .build/debug/parlance-gallery "$$@"' draw

screenshots: deps-build+run+display schemas ## Draw every view to .build/screenshots, light and dark, narrow and wide
	$(SWIFT) build --product parlance-gallery
	$(SWIFT) build --product parlance-decode
	$(SWIFT) build --product parlance-film
	@$(DRAW) screenshots .build/screenshots
	@$(DRAW) encryption .build/screenshots
	@ADW_DEBUG_HIGH_CONTRAST=1 $(DRAW) states .build/screenshots contrast
	@echo "screenshots: $$(ls .build/screenshots | wc -l) pictures in .build/screenshots"

size-screenshots: deps-build+run+display schemas ## Draw the views with text at 100, 150 and 200 % to .build/sizes, in each style
	$(SWIFT) build --product parlance-gallery
	$(SWIFT) build --product parlance-decode
	$(SWIFT) build --product parlance-film
	@$(DRAW) sizes .build/sizes
	@ADW_DEBUG_HIGH_CONTRAST=1 $(DRAW) sizes .build/sizes
	@echo "size-screenshots: $$(ls .build/sizes | wc -l) pictures in .build/sizes"

# A session has no language: it is given within. The last one is an invented language of long words with accents, see build-aux/pseudo-po.
language-screenshots: IN_LOCALE = build-aux/with-locale $$language
language-screenshots: deps-build+run+display schemas ## Draw the views in English, German, Arabic and an invented language to .build/languages
	$(SWIFT) build --product parlance-gallery
	$(SWIFT) build --product parlance-decode
	@for language in $(or $(ARGS),en_US de_DE ar_EG en_XA); do \
		$(DRAW) languages .build/languages $$language || exit 1; done
	@for language in $(or $(ARGS),de_DE ar_EG); do \
		$(DRAW) encryption .build/languages $$language || exit 1; done
	@echo "language-screenshots: $$(ls .build/languages | wc -l) pictures in .build/languages"

published-screenshots: deps-build+run+display schemas ## Draw the committed screenshots anew, and the image that the guide sends
	$(SWIFT) build --product parlance-gallery
	$(SWIFT) build --product parlance-decode
	@$(DRAW) published data/screenshots resources/images/composer.png
	@build-aux/pictures-diff HEAD || [ $$? = 3 ]

pictures-diff: have-display ## Tell which committed screenshots look different since BASE=COMMIT, or between folders
	@build-aux/pictures-diff $(or $(BASE),HEAD) $(HEAD) $(ARGS) || [ $$? = 3 ]

flatpak: deps-build+flatpak ## Build the Flatpak, install it for this user, and write its bundle to .build/flatpak
	@build-aux/flatpak install

flatpak-check: deps-build+run+display+test+flatpak ## Build the Flatpak, start it in its sandbox and check what it may do
	@build-aux/flatpak check

deb: deps-build+encryption+deb release ## Make a package for Debian, in .build/deb
	@build-aux/deb

check-roots: deps-roots ## Build and test a clean clone in fresh roots of Debian, as root; ARGS=--short for less
	@build-aux/clean-roots $(ARGS)

install: $(if $(wildcard $(RELEASE)/parlance),,release) ## Install what `make release` built
	@build-aux/install-tree install "$(DESTDIR)" "$(PREFIX)" $(RELEASE)

uninstall: ## Remove what `make install` put there
	@build-aux/install-tree uninstall "$(DESTDIR)" "$(PREFIX)" $(RELEASE)

pot: have-build ## Collect the translatable strings in po/parlance.pot
	@build-aux/pot

clean: ## Remove everything that was built
	rm -rf .build .build-*
