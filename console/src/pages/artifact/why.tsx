import { useAsk } from '../../contract/asking.ts'
import { Icon } from '../../look/icons.tsx'
import { Section } from '../../parts/page.tsx'
import { Shown } from '../../parts/states.tsx'
import { Moment, Tag } from '../../parts/values.tsx'
import { useMay } from '../../session/holders.ts'
import { said, t } from '../../words/words.ts'
import type { Of } from './of.ts'

/** Why it is kept, or when it goes; known to who may look at storage. */
export const Why = ({ repository, id }: Of) => {
  const allowed = useMay()('explainArtifact', repository)
  const why = useAsk('explainArtifact', { path: { repository, id } }, { enabled: allowed.may })
  if (!allowed.may) return null
  return (
    <Section title={t('artifact.why')}>
      <Shown of={why} rows={2}>
        {({ decision, reasons, deletableAt, blockers }) => (
          <div className="panel">
            <Tag tone={decision === 'deletable' ? 'warn' : 'ok'} text={said('decision', decision)} />
            {reasons.map(({ code, text }) => (
              <p key={code + text}>{text}</p>
            ))}
            {blockers.map((each) => (
              <p key={each} className="line">
                <Icon name="lock" />
                {said('blocker', each)}
              </p>
            ))}
            {deletableAt === null ? null : (
              <p className="muted">
                {t('artifact.goes')} <Moment at={deletableAt} />
              </p>
            )}
          </div>
        )}
      </Shown>
    </Section>
  )
}
