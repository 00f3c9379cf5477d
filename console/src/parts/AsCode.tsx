import { Code } from './Code.js'
import { Dialog } from './Dialog.js'

/** Ways to say the same, each with its name. */
export type Codes = readonly (readonly [name: string, text: string])[]

type AsCodeProps = { readonly title: string; readonly codes: Codes; onClose(): void }

/** What the screen shows, by the API, the command line and a kit. */
export function AsCode({ title, codes, onClose }: AsCodeProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      {codes.map(([name, text]) => (
        <section key={name}>
          <h3>{name}</h3>
          <Code what={`the ${name}`} text={text} />
        </section>
      ))}
      <p class="muted">
        <code>PURSER_TOKEN</code> is a token of the account (
        <code>purser auth-token create --role viewer</code>), or the <code>operatorToken</code> for
        what is the operator's.
      </p>
    </Dialog>
  )
}
