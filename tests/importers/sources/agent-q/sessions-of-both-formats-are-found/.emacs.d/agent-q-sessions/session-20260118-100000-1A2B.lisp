;;; -*- Mode: LISP; Syntax: COMMON-LISP -*-
;;; Agent-Q Session v2
;;; Created: 2026-01-18 10:00:00
;;; Name: Fix "it"

(:version 2 :id "session-20260118-100000-1A2B" :name "Fix \"it\"" :created-at 3977719200
 :updated-at 3977719400 :model "claude-sonnet-4-20250514" :metadata
 (:provider :anthropic :total-input-tokens 12) :messages
 ((:role :user :content "How does \"defun\" work?
; not a comment \\n 😀"
   :timestamp 3977719210)
  (:role :debug :content "[DEBUG] x" :timestamp 3977719211)
  (:role :assistant :content "Like this: (defun f (x) \"doc\" x)" :timestamp 3977719220)))
