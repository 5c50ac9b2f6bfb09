/** A form made from the schema of a tool's arguments. Names and descriptions are text; the server checks the values. */
import { nothing } from 'lit-html';
import { formatJson, html } from '../../../page/format.js';
import { parseObject } from './shell.js';

/** @import { JsonSchema } from '../../../core/catalog/tool.ts' */
/** @import { Words } from './words.js' */

/** Behind it stands the name of an argument. */
const FIELD = 'argument ';
/** The further arguments, as one JSON object. */
const REST = 'rest';
/** Format of a text -> the browser's field for it. @type {Readonly<Record<string, string>>} */
const FORMATS = { date: 'date', password: 'password' };
const TYPES = ['string', 'number', 'integer', 'boolean'];

/** @param {unknown} value @returns {Record<string, any>} */
const fieldsOf = (value) => (typeof value === 'object' && value !== null ? value : {});

/** Without the choice of null, which an empty field stands for. @param {unknown} given @returns {Record<string, any>} */
function plainSchema(given) {
  const schema = fieldsOf(given);
  const forms = (schema.anyOf ?? schema.oneOf ?? []).filter((/** @type {any} */ one) => fieldsOf(one).type !== 'null');
  const one = forms.length === 1 ? { ...fieldsOf(forms[0]), ...schema } : schema;
  const types = [one.type].flat().filter((type) => type !== 'null' && type !== undefined);
  return { ...one, type: types.length === 1 && TYPES.includes(types[0]) ? types[0] : 'json' };
}

/** @param {JsonSchema} schema @param {Words} t */
export function renderFields(schema, t) {
  const required = /** @type {unknown} */ (schema.required);
  const fields = Object.entries(fieldsOf(schema.properties)).map(([name, given]) => {
    const one = plainSchema(given);
    const isNeeded = Array.isArray(required) && required.includes(name);
    return html`<label data-field=${name}><code>${name}</code>${isNeeded && html` <b class="tone">${t('required')}</b>`} <small>${one.title} ${one.description}</small>
      ${renderInput(name, one, isNeeded)}</label>`;
  });
  const takesMore = schema.additionalProperties !== false;
  const rest = html`<label>${t(fields.length > 0 ? 'further_arguments' : 'arguments_json')} <textarea name=${REST} rows="2" spellcheck="false"></textarea></label>`;
  return html`${fields}${takesMore && (fields.length > 0 ? html`<details><summary>${t('more_fields')}</summary>${rest}</details>` : rest)}`;
}

/** @param {string} argument @param {Record<string, any>} schema @param {boolean} isNeeded */
function renderInput(argument, schema, isNeeded) {
  const name = FIELD + argument;
  const hint = schema.default === undefined ? '' : formatJson(schema.default);
  const choices = schema.enum ?? (schema.type === 'boolean' ? [true, false] : undefined);
  if (Array.isArray(choices))
    return html`<select name=${name} ?required=${isNeeded}><option value=""></option>${choices.map(
      (/** @type {unknown} */ one) =>
        html`<option value=${JSON.stringify(one)}>${typeof one === 'string' ? one : JSON.stringify(one)}</option>`,
    )}</select>`;
  if (schema.type === 'number' || schema.type === 'integer')
    return html`<input name=${name} type="number" step=${schema.type === 'integer' ? '1' : 'any'} min=${schema.minimum ?? nothing} max=${schema.maximum ?? nothing} placeholder=${hint} ?required=${isNeeded}>`;
  const isSecret = schema.writeOnly === true || schema['x-secret'] === true;
  const type = isSecret ? 'password' : FORMATS[schema.format];
  if (schema.type === 'string' && type)
    return html`<input name=${name} type=${type} placeholder=${hint} autocomplete="off" ?required=${isNeeded}>`;
  const isText = schema.type === 'string';
  return html`<textarea name=${name} rows=${isText ? 1 : 3} spellcheck=${isText ? nothing : 'false'} placeholder=${hint || (isText ? '' : 'JSON')} ?required=${isNeeded}></textarea>`;
}

/** An empty field is left out; `broken` names arguments that are no JSON, `''` the further ones. @param {HTMLFormElement} form @param {JsonSchema} schema */
export function readArguments(form, schema) {
  const given = new FormData(form);
  const values = /** @type {[string, unknown][]} */ ([]);
  const broken = /** @type {string[]} */ ([]);
  for (const [name, property] of Object.entries(fieldsOf(schema.properties))) {
    const text = String(given.get(FIELD + name) ?? '');
    const one = plainSchema(property);
    if (text === '') continue;
    if (Array.isArray(one.enum) || one.type === 'boolean' || one.type === 'json') addJson(name, text);
    else values.push([name, one.type === 'string' ? text : Number(text)]);
  }
  const rest = parseObject(String(given.get(REST) ?? '').trim() || '{}');
  if (!rest) broken.push('');

  /** @param {string} name @param {string} text */
  function addJson(name, text) {
    try {
      values.push([name, JSON.parse(text)]);
    } catch {
      broken.push(name);
    }
  }
  return { arguments: Object.fromEntries([...Object.entries(rest ?? {}), ...values]), broken };
}
