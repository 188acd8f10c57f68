import { useAsk, useChange } from '../../contract/asking.ts'
import { GivenStages } from '../../parts/given-stages.tsx'
import type { Of } from './of.ts'

const touched = ['listArtifactStages', 'listStages', 'listArtifactPromotions'] as const

/** The stages of a file. */
export const Stages = ({ repository, id }: Of) => {
  const read = useAsk('listArtifactStages', { path: { repository, id } })
  const add = useChange('addStage', touched)
  const remove = useChange('removeStage', touched)
  return (
    <GivenStages
      by="addStage"
      repository={repository}
      read={read}
      busy={add.isPending}
      error={add.error}
      give={(stage, comment) => add.mutateAsync({ path: { repository, id, stage }, body: { comment } })}
      take={(stage) => remove.mutateAsync({ path: { repository, id, stage } })}
    />
  )
}
