;;; Agent-Q Session v2
(:id "s" :messages ((:role :user :content "Hi")))
