import { useAsk } from '../../contract/asking.ts'
import { WhyKept } from '../../parts/kept.tsx'
import { useMay } from '../../session/holders.ts'
import type { Of } from './of.ts'

/** Why a file is kept. */
export const Why = ({ repository, id }: Of) => {
  const allowed = useMay()('explainArtifact', repository)
  const why = useAsk('explainArtifact', { path: { repository, id } }, { enabled: allowed.may })
  return <WhyKept by="explainArtifact" repository={repository} read={why} />
}
