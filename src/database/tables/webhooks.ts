/** How a subscription of a webhook stands. How far it has come is its cursor in the journal. */
export interface WebhooksTable {
  id: string
  /** It may be missing, or yet to come. */
  repository: string
  /** Of the receiver, with its port; the rest of its address may be a secret. */
  host: string
  /** JSON list of the actions that are sent; null for all. */
  actions: string | null
  created_at: string
  /** When a worker last saw it in its file. */
  named_at: string
  /** The worker that delivers, and until when it may. */
  holder: string | null
  leased_until: string | null
  last_success_at: string | null
  /** Since when the event behind the cursor is refused, how often it was, why, and when it is sent again. */
  failing_since: string | null
  failures: number
  error_code: string | null
  next_try_at: string | null
  /** Events that were forgotten before they were sent. */
  lost: number
}
