import type { TransfersNow } from '../features/operating/health/transfers.ts'
import type { HttpMetrics } from '../http/metrics/metrics.ts'
import type { Downloads } from './downloads.ts'

/** Files on their way in this process. */
export const transfersNow = (
  { transfers }: Pick<HttpMetrics, 'transfers'>,
  { admission }: Pick<Downloads, 'admission'>,
): TransfersNow => ({ processes: 1, in: transfers('in'), out: transfers('out'), ...admission.state })
