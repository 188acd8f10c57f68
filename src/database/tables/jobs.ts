/** Work for later: one row per thing to be done, which stays as the record of how it went. */
export interface JobsTable {
  id: string
  kind: 'completion'
  /** What it is about, once per kind: the id of the upload. */
  subject: string
  repository: string
  /** Actor that asked for it; only the same actor sees it. */
  owner: string
  /** Id of the managed key that asked, if it was one. */
  credential_id: string | null
  status: 'queued' | 'running' | 'completed' | 'failed'
  /** How often it was asked for again after it had failed. */
  generation: number
  /** Tries of this generation. */
  attempts: number
  error_code: string | null
  /** 1 where trying again would change nothing. */
  lasting: number
  created_at: string
  /** When somebody may take it: the end of the pause, or of the lease of a worker that went silent. Null once ended. */
  due_at: string | null
  /** Who works on it. */
  holder: string | null
  ended_at: string | null
}
