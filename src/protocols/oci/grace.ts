import { unkeptManifestMs } from '../../kernel/limits/oci.ts'
import { hour } from '../../kernel/units.ts'

/** For how long a manifest stays that nothing keeps: the grace period of its repository, and an hour at least. */
export const unkeptForMs = (graceHours: number | null, serverGraceMs: number): number =>
  Math.max(graceHours === null ? serverGraceMs : graceHours * hour, unkeptManifestMs)
