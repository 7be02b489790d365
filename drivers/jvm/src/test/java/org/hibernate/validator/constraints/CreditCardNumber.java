package org.hibernate.validator.constraints;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

/** Has the name of Hibernate Validator's constraint, which the agent goes by. */
@Retention(RetentionPolicy.RUNTIME)
public @interface CreditCardNumber {}
