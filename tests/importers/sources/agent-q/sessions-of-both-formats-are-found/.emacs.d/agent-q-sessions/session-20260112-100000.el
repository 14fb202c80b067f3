;; -*- mode: emacs-lisp; lexical-binding: t; -*-
;; Agent-Q Session
;; Created: 2026-01-12 10:00:00
;; Name: Fix "it"

(:version 1 :id "session-20260112-100000" :name "Fix \"it\"" :created-at
          (26980 50720 123456 789000)
          :updated-at
          (26980 50800 0 0)
          :model nil :messages
          ((:id "20260112100010-1a2b" :role user :content "How does \"defun\" work?\n; no comment\t\303\251\n\n## Context\n(:role user :content \"x\")" :timestamp
                (26980 50730 500000 0)
                :context-snapshot nil :metadata nil)
           (:id "20260112100020-3c4d" :role assistant :content
                #("Like this: \\(defun\\) \e[1m" 0 4
                  (face bold))
                :timestamp
                (26980 50740 0 0)
                :context-snapshot nil :metadata
                (:model "claude-sonnet-4" :tool-calls
                        ((:name "describe" :arguments
                                (:symbol "defun" :deep t)
                                :result "A macro.")))))
          :metadata
          (:total-input-tokens 12))
