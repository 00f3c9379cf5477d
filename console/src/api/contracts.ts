import type { z } from 'zod'
import type { contracts } from '../../../src/api/contracts/contracts.js'

type Subjects = typeof contracts
type OfSubject<Name> = {
  [Subject in keyof Subjects]: Name extends keyof Subjects[Subject]
    ? Subjects[Subject][Name]
    : never
}[keyof Subjects]

/** A route of the administration API: `GET /operations`. */
export type RouteOf = {
  [Subject in keyof Subjects]: keyof Subjects[Subject]
}[keyof Subjects]

/** The answer of a route, as its contract describes it. */
export type AnswerOf<Name extends RouteOf> =
  OfSubject<Name> extends { readonly answer: infer Answer extends z.ZodType }
    ? z.output<Answer>
    : never
