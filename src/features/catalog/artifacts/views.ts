import type { ArtifactsTable } from '../../../database/tables/artifacts.ts'
import type { UploadsTable } from '../../../database/tables/uploads.ts'
import type { ArtifactRecord } from './vocabulary.ts'

export const stringsOf = (json: string): string[] => {
  const parsed: unknown = JSON.parse(json)
  return Array.isArray(parsed) ? parsed.map(String) : []
}

export const recordOf = (json: string): Record<string, string> => {
  const parsed: unknown = JSON.parse(json)
  if (typeof parsed !== 'object' || parsed === null) return {}
  return Object.fromEntries(Object.entries(parsed).map(([key, value]) => [key, String(value)]))
}

/** One text for equal labels, and for equal metadata whatever the order of its keys. */
export const labelsText = (labels: readonly string[] | undefined): string => JSON.stringify(labels ?? [])
export const metadataText = (metadata: Readonly<Record<string, string>> | undefined): string =>
  JSON.stringify(Object.fromEntries(Object.entries(metadata ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))))

type Row = Pick<UploadsTable, 'id' | 'repository' | 'created_at' | 'expires_at' | 'name' | 'labels' | 'metadata'> &
  Pick<ArtifactsTable, 'size' | 'sha256'>

export const toRecord = (row: Row, status: ArtifactRecord['status']): ArtifactRecord => ({
  id: row.id,
  repository: row.repository,
  status,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  descriptor: {
    name: row.name,
    size: String(row.size),
    sha256: row.sha256,
    labels: stringsOf(row.labels),
    metadata: recordOf(row.metadata),
  },
})
