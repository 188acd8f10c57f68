import { useNavigate } from '@tanstack/react-router'
import { useAsk, useChange } from '../../contract/asking.ts'
import { Held, PromoteTo } from '../../parts/promotion.tsx'
import { tell } from '../../parts/toasts.tsx'
import { useMay } from '../../session/holders.ts'
import { t } from '../../words/words.ts'
import type { Of } from './of.ts'

/** Brings a file into another repository. */
export const Promote = ({ repository, id }: Of) => {
  const navigate = useNavigate()
  const promote = useChange('promoteArtifact', ['listArtifactPromotions', 'listPromotions', 'listStages'])
  return (
    <PromoteTo
      by="promoteArtifact"
      repository={repository}
      busy={promote.isPending}
      error={promote.error}
      held={(target, stage) => <HeldByStage repository={target} stage={stage} />}
      submit={async ({ stages, ...wanted }) => {
        const body = { ...wanted, ...(stages.length === 0 ? {} : { stages }) }
        const { artifactId } = await promote.mutateAsync({ path: { repository, id }, body })
        tell(t('promote.done', { target: wanted.target }))
        const params = { repository: wanted.target, id: artifactId }
        await navigate({ to: '/r/$repository/artifacts/$id', params, search: { tab: 'history' } })
      }}
    />
  )
}

/** The files that a stage of a repository holds now. */
const HeldByStage = ({ repository, stage }: { readonly repository: string; readonly stage: string }) => {
  const may = useMay()
  const held = useAsk(
    'listStages',
    { path: { repository }, query: { stage, limit: 5 } },
    { enabled: may('listStages', repository).may },
  )
  return (
    <Held
      stage={stage}
      holders={held.data?.items.map((entry) => ({
        ...entry,
        name: entry.artifactName ?? `${entry.artifactId.slice(0, 13)}…`,
      }))}
    />
  )
}
