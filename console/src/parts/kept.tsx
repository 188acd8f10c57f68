import type { OperationId } from '../contract/call.ts'
import { Icon } from '../look/icons.tsx'
import { useMay } from '../session/holders.ts'
import { language, said, t } from '../words/words.ts'
import { Section } from './page.tsx'
import { Shown } from './states.tsx'
import { Moment, shownAs, Tag } from './values.tsx'

interface Explained {
  readonly decision: string
  readonly reasons: readonly { readonly code: string; readonly text: string }[]
  readonly deletableAt: string | null
  readonly blockers: readonly string[]
}

interface Read {
  readonly data: Explained | undefined
  readonly error: unknown
  readonly dataUpdatedAt: number
  readonly refetch: () => unknown
}

/** The service says it in English, to the number; the console in every other language by the code. */
const sentenceOf = ({ code, text }: Explained['reasons'][number]): string => {
  if (language() === 'en') return text
  const [why, blocker] = [said('why', code), said('blocker', code)]
  return why !== code ? why : blocker !== code ? blocker : text
}

/** Why something is kept, or when it goes; known to who may ask. */
export const WhyKept = ({
  by,
  repository,
  read,
}: {
  readonly by: OperationId
  readonly repository: string
  readonly read: Read
}) => {
  if (!useMay()(by, repository).may) return null
  return (
    <Section title={t('artifact.why')}>
      <Shown of={read} rows={2}>
        {({ decision, reasons, deletableAt, blockers }) => (
          <div className="panel">
            <Tag tone={decision === 'deletable' ? 'warn' : 'ok'} text={said('decision', decision)} />
            {reasons.map((reason) => (
              <p key={reason.code + reason.text}>{shownAs(sentenceOf(reason))}</p>
            ))}
            {blockers
              .filter((each) => !reasons.some(({ code }) => code === each))
              .map((each) => (
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
